"""What Cython's types are to a .pyx that runs as Python: memoryviews, C arrays, addresses, vectors, numbers of 32 bits.

``interpreted.py`` makes Python of a .pyx; that Python calls what stands here. It answers what the compiled module does,
but for last digits, and raises the same errors with the same words; it is slow, and is for the small calls of tests.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from kuiper.course.local_arrays import OUTSIDE, ArrayIndexError

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "int": np.int32, "Py_ssize_t": np.intp, "signed char": np.int8,
    "unsigned char": np.uint8, "char": np.int8, "long": np.int64, "bint": np.int32,
}  # fmt: skip
OLD_FLOAT = np.frombuffer(b"\xfe" * 4, np.float32)[0]  # what a compiler fills variables with: see local_arrays.py
OLD_DOUBLE = np.frombuffer(b"\xfe" * 8, np.float64)[0]
OLD_INT = int(np.frombuffer(b"\xfe" * 4, np.int32)[0])
OLD_SIZE = int(np.frombuffer(b"\xfe" * 8, np.int64)[0])
OLD = {"float": OLD_FLOAT, "double": OLD_DOUBLE, "int": OLD_INT, "bint": OLD_INT}
Index = Any


class View:
    """A typed memoryview: indices are checked, and those of integers give Python's, which have any size."""

    __slots__ = ("array", "words")

    def __init__(self, array: np.ndarray, words: str = "Out of bounds on buffer access (axis {axis})") -> None:
        self.array, self.words = array, words

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def size(self) -> int:
        return self.array.size

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.array if dtype is None else self.array.astype(dtype)

    def checked(self, index: Index) -> Index:
        """The index, if it lies inside."""
        parts = index if type(index) is tuple else (index,)
        for axis, (part, length) in enumerate(zip(parts, self.array.shape, strict=False)):
            if type(part) is not slice and not 0 <= part < length and part is not Ellipsis:
                self.refuse(axis, part, length)
        return index

    def refuse(self, axis: int, part: int, length: int) -> NoReturn:
        raise IndexError(self.words.format(axis=axis))

    def __getitem__(self, index: Index) -> Any:
        found: Any = self.array[self.checked(index)]
        if isinstance(found, np.ndarray):
            return type(self)(found)
        return found if found.dtype.kind == "f" else int(found)

    def __setitem__(self, index: Index, value: Any) -> None:
        room = self.array.dtype
        value = value.array if isinstance(value, View) else value
        self.array[self.checked(index)] = value if room.kind == "f" else np.asarray(value).astype(room)


class Local(View):
    """A C array in a function. What nobody has set in it are old numbers."""

    __slots__ = ()

    def refuse(self, axis: int, part: int, length: int) -> NoReturn:
        raise ArrayIndexError(OUTSIDE[0].format(index=part, count=length), "")


class Address:
    """``&row[i]``: a place in the memory of an array, which need not end with the array's row."""

    __slots__ = ("memory", "place")

    def __init__(self, view: View, index: Index) -> None:
        view.checked(index)
        array = view.array
        self.memory = array.ravel() if array.flags.c_contiguous else np.ascontiguousarray(array).ravel()
        parts = index if type(index) is tuple else (index,)
        self.place = int(np.ravel_multi_index(parts, array.shape)) if array.size else 0


def address(view: View, index: Index) -> Address:
    """Where an element lies."""
    return Address(view, index)


def local(kind: str, lanes: int, *sizes: int) -> Local:
    """A C array of this type; one of vectors has an axis more, for their lanes."""
    dtype, lengths = (np.float32, (*sizes, lanes)) if kind == "vec" else (KINDS[kind], sizes)
    array = np.empty(lengths, dtype)
    array.view(np.uint8)[...] = 0xFE
    return Vectors(array) if kind == "vec" else Local(array)


class Vectors(Local):
    """A C array of vectors: its elements are arrays of their own."""

    __slots__ = ()

    def __getitem__(self, index: Index) -> Any:
        self.checked(index)
        found = self.array[index]
        return found.copy() if found.ndim == 1 else Vectors(found)


def view(value: Any, kind: str, axes: int, is_const: bool) -> View | None:
    """What a parameter of a memoryview's type makes of an argument.

    Raises
    ------
    ValueError, TypeError
        As Cython does, if it is no array of this type and with this many axes.
    """
    if value is None:
        return None
    array = value.array if isinstance(value, View) else value
    if not isinstance(array, np.ndarray):
        raise TypeError(f"a bytes-like object is required, not '{type(value).__name__}'")
    if not is_const and not array.flags.writeable:
        raise ValueError("buffer source array is read-only")
    if array.ndim != axes:
        raise ValueError(f"Buffer has wrong number of dimensions (expected {axes}, got {array.ndim})")
    if array.dtype != KINDS[kind]:
        names = {np.dtype(dtype): name for name, dtype in reversed(KINDS.items())}
        got = names.get(array.dtype, str(array.dtype))
        raise ValueError(f"Buffer dtype mismatch, expected '{kind}' but got '{got}'")
    return View(array)


def as_float(value: Any) -> Any:
    """A C float, or a vector."""
    return value if isinstance(value, np.ndarray) else np.float32(value)


def as_whole(value: Any) -> int:
    """An integer of C, which no fraction fits into."""
    return operator.index(value.item() if isinstance(value, np.bool_) else value)


def divide(one: Any, other: Any) -> Any:
    """``/``, with Cython's error where numbers of C are divided by 0."""
    if not isinstance(one, np.ndarray) and not isinstance(other, np.ndarray) and other == 0:
        raise ZeroDivisionError("float division")
    return one / other


def whole(dtype: Any) -> Callable[[Any], int]:
    """The cast to an integer: what stands behind the point is cut off, and what is too large wraps around."""
    limits = np.iinfo(dtype)

    def cut(value: Any) -> int:
        if not math.isfinite(value):
            return int(limits.min)
        return (int(value) - int(limits.min)) % (int(limits.max) - int(limits.min) + 1) + int(limits.min)

    return cut


CASTS: dict[str, Callable[[Any], Any]] = {
    name: whole(KINDS[name]) for name in KINDS if np.dtype(KINDS[name]).kind in "iu"
}
CASTS |= {"short": whole(np.int16), "double": np.float64, "float": np.float32, "bint": bool}
CONVERSIONS = {"float": as_float, "vec": as_float, "double": np.float64, "bint": bool}


def of_memory(place: Address, lanes: int) -> np.ndarray:
    """``load`` and ``of_bytes``."""
    return place.memory[place.place : place.place + lanes].astype(np.float32)


def into_memory(place: Address, numbers: np.ndarray) -> None:
    """``store``."""
    place.memory[place.place : place.place + len(numbers)] = numbers


def functions(lanes: int) -> dict[str, Any]:
    """What exercises cimport, by name."""
    single = {
        f"{name}f": _of_floats(getattr(math, name)) for name in ("exp", "sin", "cos", "sqrt", "log", "fabs", "tanh")
    }
    rounding = {f"{name}f": _of_floats(getattr(math, name)) for name in ("floor", "ceil")}
    return {
        **single, **rounding, "INFINITY": np.float32(np.inf), "LANES": lanes,
        "load": lambda place: of_memory(place, lanes), "of_bytes": lambda place: of_memory(place, lanes),
        "splat": lambda x: np.full(lanes, x, np.float32), "store": into_memory, "fma": lambda x, y, z: x * y + z,
    }  # fmt: skip


def _of_floats(function: Any) -> Any:
    def call(x: Any) -> Any:
        try:
            with np.errstate(over="ignore"):
                return np.float32(function(x))
        except OverflowError:
            return np.float32(np.inf)
        except ValueError:
            return np.float32(np.nan)

    return call
