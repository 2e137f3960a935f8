"""An array around one of its axes, (outer, size, inner), as softmax and normalisations see it; and in cached parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.machine import this_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.layers.layer import Array


def as_blocks(x: Array, start: int, stop: int, where: str) -> Array:
    """``x`` in C order as (outer, size, inner): the axes start..stop-1 merged, all before them, and all behind them.

    A view where the memory allows it. A scalar counts as having one axis.

    >>> import numpy as np
    >>> as_blocks(np.zeros((2, 3, 4, 5), np.float32), 1, 2, "doc").shape
    (2, 3, 20)

    Raises
    ------
    DataTypeError
        If ``x`` is not float32.
    """
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    outer, size, inner = x.shape[:start], x.shape[start:stop], x.shape[stop:]
    return np.ascontiguousarray(x).reshape(math.prod(outer), math.prod(size), math.prod(inner))


def runs_in_cache(count: int, size: int) -> Iterator[slice]:
    """Share out ``count`` parts of ``size`` numbers: runs so short that several steps over one find it in the cache.

    Without numbers there are none.
    """
    if size:
        length = max(1, this_machine().l2 // (16 * size))  # a quarter of it for a run: results and scratch come as well
        for first in range(0, count, length):
            yield slice(first, first + length)


def weights_like(weights: Array | None, shape: tuple[int, ...], neutral: float, name: str, where: str) -> Array:
    """``weights`` as one row of float32, or a row of the number that changes nothing where there are none.

    Raises
    ------
    ShapeError
        If they are not of this shape.
    """
    if weights is None:
        return np.full(math.prod(shape), neutral, np.float32)
    if weights.shape != shape:
        raise ShapeError(where, f"{name} of shape {shape}", weights.shape)
    return np.ascontiguousarray(weights, np.float32).reshape(-1)
