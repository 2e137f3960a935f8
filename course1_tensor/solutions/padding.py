"""Exercise 1.3: a border around the picture.

A convolution looks at the neighbours of each pixel. A pixel at the edge lacks some; padding gives it neighbours. The
padded picture is larger: where does the old one stand in it?

                               up = 1        0  0  0  0  0  0
    1  2  3     padding        bottom = 0    0  1  2  3  0  0
    4  5  6    -------->       left = 1      0  4  5  6  0  0
                               right = 2

NumPy has np.pad, which does it all. Do without: one new array and one assignment to a part of it, then you know what
every framework does here.
"""

from __future__ import annotations

import numpy as np


def padding(x: np.ndarray, pads: tuple[int, int, int, int], value: float = 0.0) -> np.ndarray:
    """A copy of ``x`` (c, h, w) with ``value`` around every channel: (c, up + h + bottom, left + w + right).

    ``pads`` is (up, bottom, left, right), the order of KuiperInfer: rows above and below, columns left and right.
    The result has the dtype of ``x`` and memory of its own, even where all four are 0. Every number of ``x`` arrives as
    it is: an integer of 19 digits, which a float would round, or a NaN.

    >>> padding(np.array([[[1, 2, 3], [4, 5, 6]]], np.float32), (1, 0, 1, 2), 9).tolist()
    [[[9.0, 9.0, 9.0, 9.0, 9.0, 9.0], [9.0, 1.0, 2.0, 3.0, 9.0, 9.0], [9.0, 4.0, 5.0, 6.0, 9.0, 9.0]]]

    Raises
    ------
    ValueError
        If ``pads`` are not four or one is negative, the message names them; if ``x`` has not three axes, the message
        names its shape.
    """
    # BEGIN SOLUTION
    if x.ndim != 3:
        raise ValueError(f"x: expected (c, h, w), got shape {x.shape}")
    if len(pads) != 4 or min(pads) < 0:
        raise ValueError(f"pads: expected (up, bottom, left, right), none negative, got {pads}")
    up, bottom, left, right = pads
    c, h, w = x.shape
    out = np.full((c, up + h + bottom, left + w + right), value, x.dtype)
    out[:, up : up + h, left : left + w] = x
    return out
    # END SOLUTION
