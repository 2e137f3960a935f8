"""The element types of PNNX files: their names in the text and the NumPy types of their bytes."""

from __future__ import annotations

import math

import numpy as np

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.ir import DataType, Dimension
from kuiper.graph.pnnx.values import parse_int, quote

NAMES: dict[str, DataType] = {kind.name.lower(): kind for kind in DataType if kind <= DataType.BF16}
"""``f32``, ``i64``, ``bool`` ... as the files spell them: the types that the format has."""

# Little endian, as the files are on every machine. NumPy has no bfloat16 (its bits are kept as uint16) and no
# complex-half (pairs of float16).
_NUMPY_TYPES = {
    DataType.F32: "<f4",
    DataType.F64: "<f8",
    DataType.F16: "<f2",
    DataType.I32: "<i4",
    DataType.I64: "<i8",
    DataType.I16: "<i2",
    DataType.I8: "i1",
    DataType.U8: "u1",
    DataType.BOOL: "?",
    DataType.C64: "<c8",
    DataType.C128: "<c16",
    DataType.C32: "<f2",
    DataType.BF16: "<u2",
    DataType.U16: "<u2",
    DataType.U32: "<u4",
    DataType.U64: "<u8",
}

DATA_TYPES = {
    np.dtype(layout): kind
    for kind, layout in _NUMPY_TYPES.items()
    if kind not in (DataType.C32, DataType.BF16, DataType.C64, DataType.C128)
}
"""The types of arrays that are computed: real numbers of types that NumPy has."""

MAX_SIZE = 2**31 - 1
"""The largest dimension of a shape: the C++ tools count in int."""


def numpy_layout(kind: DataType, shape: tuple[int, ...]) -> tuple[np.dtype, tuple[int, ...]]:
    """The dtype and the shape of the array that holds an attribute."""
    return np.dtype(_NUMPY_TYPES[kind]), (*shape, 2) if kind is DataType.C32 else shape


def byte_count(kind: DataType, shape: tuple[int, ...]) -> int:
    """How many bytes an attribute fills in the .bin file; none for type ``null``."""
    if kind is DataType.NULL:
        return 0
    dtype, full_shape = numpy_layout(kind, shape)
    return dtype.itemsize * math.prod(full_shape)


def parse_typed_shape(text: str, where: str) -> tuple[tuple[Dimension, ...], DataType]:
    """The shape and the type in ``(1,?,%width)f32``.

    >>> parse_typed_shape("(1,?,%width)f32", "conv.param:3")
    ((1, None, 'width'), <DataType.F32: 1>)

    Raises
    ------
    ModelFormatError
        For anything else, an unknown type, a negative size or one beyond 31 bits.
    """
    body, bracket, name = text.rpartition(")")
    if not bracket or not body.startswith("("):
        raise ModelFormatError(where, "a shape and a type like (1,64)f32", quote(text))
    if name not in NAMES:
        raise ModelFormatError(where, f"one of the types {' '.join(NAMES)}", quote(name))
    dims = body[1:].split(",") if len(body) > 1 else []
    return tuple(_parse_dimension(dim, where) for dim in dims), NAMES[name]


def _parse_dimension(text: str, where: str) -> Dimension:
    if text == "?":
        return None
    if text.startswith("%") and len(text) > 1:
        return text[1:]
    return parse_int(text, where, f"a size from 0 to {MAX_SIZE}", 0, MAX_SIZE)


def spell_typed_shape(shape: tuple[Dimension, ...], kind: DataType) -> str:
    """The text of a shape and a type, the inverse of ``parse_typed_shape``.

    >>> spell_typed_shape((1, None, "width"), DataType.F32)
    '(1,?,%width)f32'
    """
    dims = ("?" if dim is None else f"%{dim}" if isinstance(dim, str) else str(dim) for dim in shape)
    return f"({','.join(dims)}){kind.name.lower()}"
