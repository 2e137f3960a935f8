"""Exercise 3.7: adaptive average pooling, as many windows as asked for.

The last layers of a network are made for one size of picture. Adaptive pooling lets it take pictures of any size: you
do not say how large the windows are, but how many there shall be, and they share out the picture among themselves.

Along an axis of ``length`` pixels, window i of ``count`` windows has the pixels

    from             i  * length / count     rounded down
    to, without,  (i+1) * length / count     rounded up

    length 7, count 3                            length 3, count 5: more windows than pixels

    0 1 2 3 4 5 6                                0 1 2
    a a a             0      to 7/3  -> 3        a            0    to 3/5  -> 1
        b b b         7/3->2 to 14/3 -> 5        b b          3/5->0 to 6/5  -> 2
            c c c     14/3->4 to 7                 c          6/5->1 to 9/5  -> 2
                                                   d d        9/5->1 to 12/5 -> 3
    (pixel 2 is in a and in b)                       e       12/5->2 to 3

So windows may overlap by a pixel, may differ in their length, and together they see every pixel. This is what
torch.nn.functional.adaptive_avg_pool2d does, and a network's numbers come out right only if you do exactly the same.
"""

from __future__ import annotations

import numpy as np


def windows(length: int, count: int) -> list[tuple[int, int]]:
    """First pixel, and the one after the last, of ``count`` windows that share out ``length`` pixels; both at least 1.

    Numbers may be as large as Python allows: no float is exact enough, so stay with integers.

    >>> windows(7, 3)
    [(0, 3), (2, 5), (4, 7)]
    >>> windows(3, 5)
    [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    """
    # BEGIN SOLUTION
    return [(i * length // count, ((i + 1) * length + count - 1) // count) for i in range(count)]
    # END SOLUTION


def adaptive_avg_pool2d(x: np.ndarray, output_size: int | tuple[int | None, int | None] | None) -> np.ndarray:
    """The means of all windows of the pictures ``x`` (n, c, h, w): a new float32 array (n, c, out_h, out_w).

    ``output_size`` is the pair (out_h, out_w), or one value that stands for both. None keeps the size of ``x`` along
    its axis, and so does 0: a model file has no None, and writes 0.

    A window has the rows of one window along the height and the columns of one along the width. Its numbers are added
    up in float64 and the mean is rounded to float32 at the very end: a sum of many float32 loses its last digits.

    >>> x = np.array([[[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]]], np.float32)
    >>> adaptive_avg_pool2d(x, (1, 2)).tolist()    # columns 0 to 2, columns 2 to 4
    [[[[4.5, 6.5]]]]
    >>> adaptive_avg_pool2d(x, (None, 2)).tolist()
    [[[[2.0, 4.0], [7.0, 9.0]]]]
    >>> adaptive_avg_pool2d(x, 1).tolist()
    [[[[5.5]]]]

    Raises
    ------
    ValueError
        If ``x`` has not four axes (the message has the word "axes"), or if ``output_size`` has a negative number or is
        neither one value nor a pair ("output_size").
    """
    # BEGIN SOLUTION
    if x.ndim != 4:
        raise ValueError(f"x: expected 4 axes (n, c, h, w), got {x.ndim}")
    pair = output_size if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    if len(pair) != 2 or any(size is not None and size < 0 for size in pair):
        raise ValueError(f"output_size: expected two numbers from 0 on or None, got {output_size}")
    h, w = x.shape[2:]
    out_h, out_w = pair[0] or h, pair[1] or w
    out = np.empty((*x.shape[:2], out_h, out_w), np.float32)
    for oy, (top, bottom) in enumerate(windows(h, out_h)):
        for ox, (left, right) in enumerate(windows(w, out_w)):
            out[:, :, oy, ox] = x[:, :, top:bottom, left:right].mean((2, 3), dtype=np.float64)
    return out
    # END SOLUTION
