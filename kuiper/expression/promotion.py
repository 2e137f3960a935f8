"""Where tensors and numbers meet: torch's rule for the type of the result.

    1. The highest kind decides: bool < integer < float < complex.
    2. A Python number gives its kind only, not its width: float32 times 2.5 stays float32, int64 times 2.5 is float32.
    3. Of the tensors of that kind, those with axes decide the width; those without do only where there are no others.

NumPy differs: it makes float64 of int64 and float32. Source: torch.result_type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.promotion import NUMBERS, promoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.layers.layer import Array

_LEVELS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
"""NumPy's kinds of numbers, by what they give way to."""

_LEVELS_OF_NUMBERS = {kind: level for level, kind in enumerate((*NUMBERS, complex))}
"""The same for plain Python numbers."""

_DEFAULTS = (*NUMBERS.values(), np.dtype(np.complex64))
"""What torch makes of a Python number of each level."""


def is_tensor(value: Any) -> bool:
    """Whether this is an array, or the single number of one that NumPy took out of its array."""
    return isinstance(value, (np.ndarray, np.generic))


def unwrapped(inputs: Iterable[Any]) -> list[Any]:
    """Anything that is an array inside (a kuiper.Tensor) as that array; arrays, numbers and lists as they are."""
    return [np.asarray(x) if hasattr(x, "__array__") and not is_tensor(x) else x for x in inputs]


def operands(values: tuple[Any, ...], floating: bool = False) -> list[Array] | None:
    """The values as arrays of their common element type; None if all of them are plain Python numbers.

    ``floating`` makes float32 of integers and bools.

    Raises
    ------
    TypeError
        If one is neither a tensor nor a number.
    """
    dtype = getattr(values[0], "dtype", None)
    if any(getattr(value, "dtype", None) is not dtype for value in values[1:]):
        dtype = result_type(*values)
    elif dtype is None:
        for value in values:
            _level(value)
        return None
    if floating and _LEVELS[dtype.kind] < _LEVELS["f"]:
        dtype = np.dtype(np.float32)
    # astype, because a number that does not fit wraps around: -1 among uint8 is 255
    return [np.asarray(value).astype(dtype, copy=False) for value in values]


def result_type(*values: Any) -> np.dtype:
    """The element type of a result of these tensors and numbers, at least one of them a tensor.

    >>> result_type(np.zeros(2, np.float32), 0.1), result_type(np.zeros(2, np.int64), 0.1), result_type(np.zeros(2), 2j)
    (dtype('float32'), dtype('float32'), dtype('complex128'))

    Raises
    ------
    TypeError
        If one is neither a tensor nor a number.
    """
    tensors, level = [], 0
    for value in values:
        if is_tensor(value):
            tensors.append(value)
        else:
            level = max(level, _level(value))
    dtype = tensors[0].dtype if len(tensors) == 1 else _type_of_tensors(tensors)
    if level <= _LEVELS[dtype.kind]:
        return dtype
    return _complex_for([dtype]) if level == _LEVELS["c"] else _DEFAULTS[level]


def _type_of_tensors(tensors: list[Array]) -> np.dtype:
    dtypes = [tensor.dtype for tensor in tensors]
    if dtypes.count(dtypes[0]) == len(dtypes):
        return dtypes[0]
    return _complex_for(dtypes) if any(dtype.kind == "c" for dtype in dtypes) else promoted(tensors)


def _complex_for(dtypes: list[np.dtype]) -> np.dtype:
    """The complex type as wide as the floats among these; integers have no say."""
    return np.result_type(np.complex64, *(dtype for dtype in dtypes if _LEVELS[dtype.kind] >= _LEVELS["f"]))


def _level(value: Any) -> int:
    """The level of a plain Python number."""
    level = _LEVELS_OF_NUMBERS.get(type(value))
    if level is None:
        raise TypeError(f"{value!r} is neither a tensor nor a number")
    return level
