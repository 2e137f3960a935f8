"""Exercise 1.4: merging axes.

Between the last convolution (n, c, h, w) and the first linear layer (n, features) stands a flatten: the axes 1 to 3
become one, and not a single number moves. In row-major order the values of the last axes already lie behind one
another; only the shape is told anew.

    (2, 3, 4, 5)   from axis 1 to axis 2   ->   (2, 12, 5)          12 = 3 * 4
"""

from __future__ import annotations

import math

import numpy as np


def flattened_shape(shape: tuple[int, ...], start: int = 0, end: int = -1) -> tuple[int, ...]:
    """The shape after the axes from ``start`` to ``end``, both included, are merged into one.

    Negative axes count from the end. One axis alone stays as it is; a shape without axes counts as (1,). Lengths may be
    0, and larger than any memory: this is arithmetic with Python's own integers.

    >>> flattened_shape((2, 3, 4, 5), 1, 2)
    (2, 12, 5)
    >>> flattened_shape((2, 3, 4, 5), 1)
    (2, 60)
    >>> flattened_shape((2, 3, 4, 5), -3, -2)
    (2, 12, 5)
    >>> flattened_shape(())
    (1,)

    Raises
    ------
    ValueError
        If ``start`` or ``end`` is not an axis, or ``start`` lies behind ``end``; the message names both as they were
        given.
    """
    # BEGIN SOLUTION
    shape = shape or (1,)
    rank = len(shape)
    if not (-rank <= start < rank and -rank <= end < rank and start % rank <= end % rank):
        raise ValueError(f"expected axes start <= end within {-rank}..{rank - 1}, got start {start}, end {end}")
    first, behind = start % rank, end % rank + 1
    return (*shape[:first], math.prod(shape[first:behind]), *shape[behind:])
    # END SOLUTION


def flatten(x: np.ndarray, start: int = 0, end: int = -1) -> np.ndarray:
    """The values of ``x`` under that shape, in row-major order.

    Where ``x`` lies row-major without gaps nothing is copied: the result is another view of the same memory.

    >>> flatten(np.array([[1, 2, 3], [4, 5, 6]])).tolist()
    [1, 2, 3, 4, 5, 6]

    Raises
    ------
    ValueError
        As ``flattened_shape`` does.
    """
    # BEGIN SOLUTION
    return x.reshape(flattened_shape(x.shape, start, end))
    # END SOLUTION
