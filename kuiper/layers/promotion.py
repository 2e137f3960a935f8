"""Which element type comes out where two meet: torch's rule, which is not NumPy's."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kuiper.layers.layer import Array

_LEVELS = {"b": 0, "u": 1, "i": 1, "f": 2}
"""NumPy's kinds of numbers, by what they give way to."""


def promoted(arrays: Iterable[Array]) -> np.dtype:
    """The element type that torch gives to a result of these arrays.

    The highest kind among them decides (bool, then whole numbers, then floats), and within it the widest type. So
    float32 and int64 make float32 (NumPy: float64). Arrays without axes decide only where no others are of as high a kind.

    >>> promoted([np.zeros(2, np.float32), np.zeros(2, np.int64)])
    dtype('float32')
    >>> promoted([np.zeros(2, np.int32), np.array(1, np.int64)])
    dtype('int32')
    """
    arrays = list(arrays)
    with_axes = [array.dtype for array in arrays if array.ndim]
    without = [array.dtype for array in arrays if not array.ndim]
    candidates = [_widest(dtypes) for dtypes in (with_axes, without) if dtypes]
    return max(candidates, key=lambda dtype: _LEVELS[dtype.kind])  # on a tie the first: arrays with axes


def _widest(dtypes: list[np.dtype]) -> np.dtype:
    """The widest of the types of the highest kind."""
    highest = max(_LEVELS[dtype.kind] for dtype in dtypes)
    return np.result_type(*(dtype for dtype in dtypes if _LEVELS[dtype.kind] == highest))
