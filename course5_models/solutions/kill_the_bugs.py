"""Exercise 5.8: the test that lets no bug through.

All through these courses you were on one side: you wrote code, and tests that you did not write told you what was wrong. Now
you write the test. The bugs are the known wrong answers to exercise 3.5, more than forty of them: a stride that is ignored,
a bias that only the first image gets, groups in the wrong order ... You know conv2d. What would you have to see before
you believe that somebody else's is right?

    check(conv2d)       must be silent if conv2d is right,
                        and raise an error (an AssertionError, any other will do) if it is wrong

Your points are the bugs that you kill. Three things make a test strong, and you have met them in every exercise:

    numbers that tell     1 2 3 4 and 1 10 100 1000: the digits of the sum say which number met which.
                          All ones, or a kernel that looks the same from both sides, say nothing.
    settings that differ  stride (2, 2) cannot tell whether height and width were swapped, stride (2, 3) can. One image, one
                          channel, one group, square pictures: each hides a whole family of bugs.
    a second opinion      seven plain loops, straight from the definition, need no expectations by hand:

        out[n, o, y, x] = bias[o] + sum over c, ky, kx of  weight[o, c, ky, kx] *
            image[n, first channel of o's group + c, y * stride_h - padding_h + ky * dilation_h,
                                                     x * stride_w - padding_w + kx * dilation_w]     (0 outside of the image)

And do not ask too much: whoever adds up in another order gets another last digit. Whole numbers below 16 million are
exact in float32, in any order; a check that turns down a right conv2d kills nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def check(conv2d: Callable[..., np.ndarray]) -> None:
    """Raise an error unless ``conv2d`` does all that exercise 3.5 asks; read its docstring once more.

        conv2d(x, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1)

    Call it and look at what it returns. Also at what it refuses: the four errors are part of the contract. Be done within
    a second.
    """
    # BEGIN SOLUTION
    x = np.arange(-60, 2 * 4 * 7 * 9 - 60, dtype=np.float32).reshape(2, 4, 7, 9)
    for groups, stride, padding, dilation in SETTINGS:
        weight = np.arange(-20, 8 * (4 // groups) * 6 - 20, dtype=np.float32).reshape(8, 4 // groups, 2, 3)
        for bias in (np.arange(3, 11, dtype=np.float32), None):
            got = conv2d(x, weight, bias, stride, padding, dilation, groups)
            wanted = by_definition(x, weight, bias, stride, padding, dilation, groups)
            assert got.dtype == np.float32 and got.shape == wanted.shape and (got == wanted).all()
    half = conv2d(np.full((1, 1, 1, 1), 0.5, np.float32), np.full((1, 1, 1, 1), 0.5, np.float32))
    assert half.tolist() == [[[[0.25]]]]
    ones = np.ones((1, 4, 5, 6), np.float32)
    for shape, bias_shape, settings in REFUSED:
        bias = None if bias_shape is None else np.ones(bias_shape, np.float32)
        try:
            conv2d(ones, np.ones(shape, np.float32), bias, **settings)
        except ValueError:
            continue
        raise AssertionError(f"conv2d accepts a weight {shape} and a bias {bias_shape} with {settings}")
    # END SOLUTION


# BEGIN SOLUTION


SETTINGS = [
    (1, (1, 1), (0, 0), (1, 1)),
    (1, (2, 1), (0, 1), (1, 2)),
    (2, (3, 2), (1, 4), (4, 3)),
    (4, (2, 3), (2, 1), (1, 1)),
    (2, (1, 4), (0, 0), (2, 1)),
]

REFUSED = [
    ((2, 3, 1, 1), None, {}),
    ((2, 4, 1, 1), None, {"groups": 2}),
    ((3, 2, 1, 1), None, {"groups": 2}),
    ((2, 4, 1, 1), (1,), {}),
    ((2, 4, 1, 1), (2, 1), {}),
    ((2, 4, 6, 1), None, {}),
    ((2, 4, 1, 7), None, {}),
    ((2, 4, 3, 1), None, {"dilation": (3, 1)}),
    ((2, 4, 1, 3), None, {"dilation": (1, 3), "padding": (9, 0)}),
]


def by_definition(x, weight, bias, stride, padding, dilation, groups):
    """The second opinion."""
    n, _, h, w = x.shape
    out_c, depth, kernel_h, kernel_w = weight.shape
    out_h = (h + 2 * padding[0] - dilation[0] * (kernel_h - 1) - 1) // stride[0] + 1
    out_w = (w + 2 * padding[1] - dilation[1] * (kernel_w - 1) - 1) // stride[1] + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    out = np.zeros((n, out_c, out_h, out_w))
    for o, y, column in np.ndindex(out_c, out_h, out_w):
        first = o // (out_c // groups) * depth
        top, left = y * stride[0], column * stride[1]
        bottom, right = top + dilation[0] * (kernel_h - 1) + 1, left + dilation[1] * (kernel_w - 1) + 1
        window = padded[:, first : first + depth, top : bottom : dilation[0], left : right : dilation[1]]
        out[:, o, y, column] = (window * weight[o]).sum(axis=(1, 2, 3)) + (0 if bias is None else bias[o])
    return out


# END SOLUTION
