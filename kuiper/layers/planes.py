"""Images as a stack of planes: what pooling and resampling have in common."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


def as_planes(x: Array, where: str) -> Array:
    """``x`` (n, c, h, w) or (c, h, w) as (planes, h, w) in C order; a view where the memory allows it.

    >>> import numpy as np
    >>> as_planes(np.zeros((2, 3, 4, 5), np.float32), "doc").shape
    (6, 4, 5)

    Raises
    ------
    ShapeError
        If ``x`` has another number of axes, or no pixels (an empty batch is fine).
    DataTypeError
        If ``x`` is not float32.
    """
    if x.ndim not in (3, 4):
        raise ShapeError(where, "input (n, c, h, w) or (c, h, w)", x.shape)
    if 0 in x.shape[-2:]:
        raise ShapeError(where, "input with h >= 1 and w >= 1", x.shape)
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    return np.ascontiguousarray(x).reshape(math.prod(x.shape[:-2]), *x.shape[-2:])


def as_rows(x: Array, where: str) -> Array:
    """``x`` (n, c, w) or (c, w) as an image of height 1: what works on images then works on sequences.

    Raises
    ------
    ShapeError
        If ``x`` has another number of axes.
    """
    if x.ndim not in (2, 3):
        raise ShapeError(where, "input (n, c, w) or (c, w)", x.shape)
    return x[..., None, :]
