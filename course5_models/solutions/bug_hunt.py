"""Exercise 5.8: the test that lets no bug through.

All through these courses you were on one side: you wrote code, and tests that you did not write told you what was
wrong. Now you write the test. Its opponents are the known wrong answers to exercise 3.5, more than forty of them: a
stride that is ignored, a bias that only the first image gets, groups in the wrong order ... You know conv2d. What would
you have to see before you believe that somebody else's is right?

A test is a list of cases; a case is a call, and what must come of it. A bug is dead when one of your cases shows that
it is wrong, and your points are the bugs that you kill. In 3.10 there were groups only, and pen and paper. Here is all
of conv2d:

    numbers that tell     1 2 3 4 and 1 10 100 1000: the digits of the sum say which number met which.
                          All ones, or a kernel that looks the same from both sides, say nothing.
    settings that differ  stride (2, 2) cannot tell whether height and width were swapped, stride (2, 3) can. One image,
                          one channel, one group, square pictures: each hides a whole family of bugs.
    a second opinion      nobody works out 500 sums by hand. Seven plain loops, straight from the definition, do:

        out[n, o, y, x] = bias[o] + sum over c, ky, kx of  weight[o, c, ky, kx] *
            image[n, first channel of o's group + c, y * stride_h - padding_h + ky * dilation_h,
                                                     x * stride_w - padding_w + kx * dilation_w]

    and whatever lies outside of the image counts as 0

Do not take your conv2d of 3.5 for the second opinion: it would agree with its own mistakes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A call of conv2d, and what must come of it. Arrays may be given as nested lists; all of them are made float32.

    x         (n, in_c, h, w)
    weight    (out_c, in_c / groups, kernel_h, kernel_w)
    bias      (out_c,) or None
    stride, padding, dilation    (vertical, horizontal) each
    expected  (n, out_c, out_h, out_w), or None: this call must raise a ValueError
    """

    x: Any
    weight: Any
    bias: Any
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    groups: int
    expected: Any = None


def cases() -> list[Case]:
    """Between 1 and 50 cases. No array has more than 10000 numbers, no setting is above 20.

    One to begin with, which is right and catches a few: an image 1 high and 3 wide, a kernel 1 high and 2 wide.

        Case([[[[1, 2, 3]]]], [[[[10, 1]]]], None, (1, 1), (0, 0), (1, 1), 1, [[[[12, 23]]]])

    A case counts only if a right conv2d gives what it expects (to six digits: sums in another order have another
    last digit). Read the docstring of 3.5 once more; what it refuses is part of what it promises.
    """
    # BEGIN SOLUTION
    x = np.arange(-60, 2 * 4 * 7 * 9 - 60).reshape(2, 4, 7, 9)
    found = []
    for groups, stride, padding, dilation in SETTINGS:
        weight = np.arange(-20, 8 * (4 // groups) * 6 - 20).reshape(8, 4 // groups, 2, 3)
        for bias in (np.arange(3, 11), None):
            expected = by_definition(x, weight, bias, stride, padding, dilation, groups)
            found.append(Case(x, weight, bias, stride, padding, dilation, groups, expected))
    found.append(Case([[[[0.5]]]], [[[[0.5]]]], None, (1, 1), (0, 0), (1, 1), 1, [[[[0.25]]]]))
    ones = np.ones((1, 4, 5, 6))
    for shape, bias_shape, padding, dilation, groups in REFUSED:
        bias = None if bias_shape is None else np.ones(bias_shape)
        found.append(Case(ones, np.ones(shape), bias, (1, 1), padding, dilation, groups, None))
    return found
    # END SOLUTION


# BEGIN SOLUTION

# groups, stride, padding, dilation
SETTINGS = [
    (1, (1, 1), (0, 0), (1, 1)),
    (1, (2, 1), (0, 1), (1, 2)),
    (2, (3, 2), (1, 4), (4, 3)),
    (4, (2, 3), (2, 1), (1, 1)),
    (2, (1, 4), (0, 0), (2, 1)),
]

# shape of the weight, shape of the bias, padding, dilation, groups
REFUSED = [
    ((2, 3, 1, 1), None, (0, 0), (1, 1), 1),
    ((2, 4, 1, 1), None, (0, 0), (1, 1), 2),
    ((3, 2, 1, 1), None, (0, 0), (1, 1), 2),
    ((2, 4, 1, 1), (1,), (0, 0), (1, 1), 1),
    ((2, 4, 1, 1), (2, 1), (0, 0), (1, 1), 1),
    ((2, 4, 1, 1), (1, 2), (0, 0), (1, 1), 1),
    ((2, 4, 6, 1), None, (0, 0), (1, 1), 1),
    ((2, 4, 1, 7), None, (0, 0), (1, 1), 1),
    ((2, 4, 1, 3), None, (9, 0), (1, 3), 1),
]


def by_definition(x, weight, bias, stride, padding, dilation, groups):
    """The second opinion: for each output pixel, the window it sees times the kernel."""
    n, _, h, w = x.shape
    out_c, depth, kernel_h, kernel_w = weight.shape
    reach_h, reach_w = dilation[0] * (kernel_h - 1) + 1, dilation[1] * (kernel_w - 1) + 1
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    tops = range(0, h + 2 * padding[0] - reach_h + 1, stride[0])
    lefts = range(0, w + 2 * padding[1] - reach_w + 1, stride[1])
    out = np.zeros((n, out_c, len(tops), len(lefts)))
    for o in range(out_c):
        first = o // (out_c // groups) * depth
        for y, top in enumerate(tops):
            for column, left in enumerate(lefts):
                rows, columns = slice(top, top + reach_h, dilation[0]), slice(left, left + reach_w, dilation[1])
                window = padded[:, first : first + depth, rows, columns]
                out[:, o, y, column] = (window * weight[o]).sum(axis=(1, 2, 3)) + (0 if bias is None else bias[o])
    return out


# END SOLUTION
