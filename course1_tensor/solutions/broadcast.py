"""Exercise 1.5: small tensors that act like large ones.

A convolution adds one bias to each channel: (c, 1, 1) meets (c, h, w). Nobody copies the bias h * w times. Broadcasting
walks over it with a stride of 0: one step to the right, and it still stands on the same number.

    [[[10]],   +   [[[1, 2, 3]],   =   [[[11, 12, 13]],         shapes   (2, 1, 1)  and  (2, 1, 3)
     [[20]]]        [[4, 5, 6]]]        [[24, 25, 26]]]         strides  (1, 0, 0)  and  (3, 3, 1)

Begin with shapes of the same number of axes, as here. Then the whole rule, which NumPy and PyTorch share: write the
shapes one below the other so that their LAST axes stand in one column; a missing length counts as 1; in each column the
lengths must be equal, or one of them is 1 and gives way to the other.

    (2, 3, 1, 5)
          (4, 1)      ->      (2, 3, 4, 5)

NumPy does all of this behind a plus sign. Leave that to it another time: here, add and multiply two numbers at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kuiper.course import load_exercise

strides = load_exercise("1.1").strides


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which both fit.

    >>> broadcast_shape((2, 1, 1), (2, 4, 3))
    (2, 4, 3)
    >>> broadcast_shape((2, 3, 1, 5), (4, 1))
    (2, 3, 4, 5)
    >>> broadcast_shape((3, 1), (0,))                # 1 gives way to any length, to 0 as well
    (3, 0)

    Raises
    ------
    ValueError
        If two lengths are different and neither is 1; the message names both shapes.
    """
    # BEGIN SOLUTION
    rank = max(len(a), len(b))
    lengths = []
    for x, y in zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b):
        if x != y and 1 not in (x, y):
            raise ValueError(f"expected lengths that are equal or 1, got the shapes {a} and {b}")
        lengths.append(y if x == 1 else x)
    return tuple(lengths)
    # END SOLUTION


def stretched_strides(shape: tuple[int, ...], steps: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The strides that walk through ``target`` over a tensor of this shape and these strides.

    One stride for each axis of ``target``: 0 where the tensor is repeated (it has the length 1 there and the target
    another, or it lacks the axis), its own stride everywhere else. You may trust that the shapes fit.

    >>> stretched_strides((2, 1, 1), (1, 1, 1), (2, 4, 3))
    (1, 0, 0)
    >>> stretched_strides((4, 1), (1, 1), (2, 3, 4, 5))
    (0, 0, 1, 0)
    """
    # BEGIN SOLUTION
    missing = len(target) - len(shape)
    own = (step if length == wanted else 0 for length, step, wanted in zip(shape, steps, target[missing:]))
    return (0,) * missing + tuple(own)
    # END SOLUTION


# BEGIN SOLUTION
def combine(fn: Callable[[float, float], float], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``fn`` of the two numbers that meet at each index."""
    shape = broadcast_shape(x.shape, y.shape)
    x_steps = stretched_strides(x.shape, strides(x.shape), shape)
    y_steps = stretched_strides(y.shape, strides(y.shape), shape)
    x_row, y_row = x.ravel(), y.ravel()
    out = np.empty(shape, np.float32)
    for index in np.ndindex(shape):
        x_place = sum(i * step for i, step in zip(index, x_steps))
        y_place = sum(i * step for i, step in zip(index, y_steps))
        out[index] = fn(x_row[x_place], y_row[y_place])
    return out


# END SOLUTION
def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``x + y`` for two arrays of float32: a new array of float32 with the shape in which both fit.

    For every index of the new shape (np.ndindex counts them for you) find the place of the number in x and the place of
    the number in y: multiply index and stretched strides, add up. x.ravel() is a row of the values of x in row-major
    order.

    >>> add(np.array([[[10]], [[20]]], np.float32), np.array([[[1, 2, 3]], [[4, 5, 6]]], np.float32)).tolist()
    [[[11.0, 12.0, 13.0]], [[24.0, 25.0, 26.0]]]

    Raises
    ------
    ValueError
        As ``broadcast_shape`` does.
    """
    # BEGIN SOLUTION
    return combine(lambda a, b: a + b, x, y)
    # END SOLUTION


def multiply(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``x * y``, in the same way.

    >>> multiply(np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.array([[10], [-1]], np.float32)).tolist()
    [[10.0, 20.0, 30.0], [-4.0, -5.0, -6.0]]
    """
    # BEGIN SOLUTION
    return combine(lambda a, b: a * b, x, y)
    # END SOLUTION
