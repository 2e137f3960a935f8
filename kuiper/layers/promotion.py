"""Which element type comes out where two meet: torch's rule, which is not NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kuiper.layers.layer import Array

_LEVELS = {"b": 0, "u": 1, "i": 1, "f": 2}
"""NumPy's kinds of numbers, by what gives way to what."""

NUMBERS = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float32)}
"""What torch makes of plain numbers, each kind giving way to the next. NumPy's integers may have 32 bits."""


def promoted(values: Iterable[Array | float]) -> np.dtype:
    """The element type that torch gives to a result of these arrays and plain numbers.

    The highest kind among them decides (bools, integers, floats), and within it the widest type: float32 and int64
    make float32, where NumPy makes float64. Arrays without axes count only if they are of a higher kind than those with
    axes, plain numbers only if they are of a higher kind than all arrays; a plain float is then float32.

    >>> promoted([np.zeros(2, np.float32), np.zeros(2, np.int64)])
    dtype('float32')
    >>> promoted([np.zeros(2, np.int32), np.array(1, np.int64), 5])
    dtype('int32')
    >>> promoted([np.zeros(2, np.int32), 0.5])
    dtype('float32')
    """
    with_axes: list[np.dtype] = []
    without_axes: list[np.dtype] = []
    numbers: list[np.dtype] = []
    for value in values:
        if isinstance(value, (np.ndarray, np.generic)):
            (with_axes if value.ndim else without_axes).append(value.dtype)
        else:
            numbers.append(NUMBERS[type(value)])
    widest = [_widest(dtypes) for dtypes in (with_axes, without_axes, numbers) if dtypes]
    return max(widest, key=lambda dtype: _LEVELS[dtype.kind])  # the first of the highest kind


def as_array(value: Any) -> Array:
    """An array as it is; a plain number as an array without axes: int64, float64 or bool, by its kind.

    >>> as_array(3).dtype, as_array(0.5).dtype
    (dtype('int64'), dtype('float64'))
    """
    return np.asarray(value, np.int64 if type(value) is int else None)


def _widest(dtypes: list[np.dtype]) -> np.dtype:
    """The widest of the types of the highest kind."""
    highest = max(_LEVELS[dtype.kind] for dtype in dtypes)
    return np.result_type(*(dtype for dtype in dtypes if _LEVELS[dtype.kind] == highest))
