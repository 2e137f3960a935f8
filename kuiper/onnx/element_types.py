"""The element types of ONNX, and what arrays of each look like inside the graph.

A type that NumPy lacks lives inside the graph as the nearest type that holds all of its values: the small floats
(float16, bfloat16, float8, float4) as float32, the small integers (int4, int2) as int8 or uint8. Nothing is lost: a
``Cast`` to such a type rounds, and the numbers stay as wide as the arithmetic. An output that the file declares as
float16 leaves the graph as float16; the other small types leave as they are inside.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.graph.pnnx import DataType

if TYPE_CHECKING:
    import onnx


class ElementType(NamedTuple):
    """An element type: its name, as what an operand declares it, and its numbers inside the graph."""

    name: str
    declared: DataType
    inside: np.dtype


def _row(name: str, declared: DataType, inside: type[np.generic]) -> ElementType:
    return ElementType(name, declared, np.dtype(inside))


FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16 = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
DOUBLE, UINT32, UINT64, COMPLEX64, COMPLEX128, BFLOAT16 = 11, 12, 13, 14, 15, 16

ELEMENT_TYPES: dict[int, ElementType] = {
    FLOAT: _row("float", DataType.F32, np.float32),
    UINT8: _row("uint8", DataType.U8, np.uint8),
    INT8: _row("int8", DataType.I8, np.int8),
    UINT16: _row("uint16", DataType.U16, np.uint16),
    INT16: _row("int16", DataType.I16, np.int16),
    INT32: _row("int32", DataType.I32, np.int32),
    INT64: _row("int64", DataType.I64, np.int64),
    BOOL: _row("bool", DataType.BOOL, np.bool_),
    FLOAT16: _row("float16", DataType.F16, np.float32),
    DOUBLE: _row("double", DataType.F64, np.float64),
    UINT32: _row("uint32", DataType.U32, np.uint32),
    UINT64: _row("uint64", DataType.U64, np.uint64),
    COMPLEX64: _row("complex64", DataType.C64, np.complex64),
    COMPLEX128: _row("complex128", DataType.C128, np.complex128),
    BFLOAT16: _row("bfloat16", DataType.BF16, np.float32),
    17: _row("float8e4m3fn", DataType.F32, np.float32),
    18: _row("float8e4m3fnuz", DataType.F32, np.float32),
    19: _row("float8e5m2", DataType.F32, np.float32),
    20: _row("float8e5m2fnuz", DataType.F32, np.float32),
    21: _row("uint4", DataType.U8, np.uint8),
    22: _row("int4", DataType.I8, np.int8),
    23: _row("float4e2m1", DataType.F32, np.float32),
    24: _row("float8e8m0", DataType.F32, np.float32),
    25: _row("uint2", DataType.U8, np.uint8),
    26: _row("int2", DataType.I8, np.int8),
}
"""By the numbers of ``onnx.TensorProto.DataType``."""

BITS = {
    1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16,
    17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2,
}  # fmt: skip
"""Of one stored number, by the numbers of ``onnx.TensorProto.DataType``."""

DATA_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
"""Where a tensor keeps its numbers, if not as bytes."""

_CODED = (17, 18, 19, 20, 24)  # bytes that are no integers

HALVES = (FLOAT16, BFLOAT16)
FLOATS = (FLOAT, FLOAT16, DOUBLE, BFLOAT16)
BY_NAME = {one.name: code for code, one in ELEMENT_TYPES.items()}


def element_type(code: int, where: str) -> ElementType:
    """The element type of a number of ``onnx.TensorProto.DataType``.

    Raises
    ------
    UnsupportedOperatorError
        If it is text, or a type that kuiper does not know.

    >>> element_type(10, "x").inside
    dtype('float32')
    """
    if code not in ELEMENT_TYPES:
        got = "text" if code == STRING else f"type {code}"
        raise UnsupportedOperatorError(where, "numbers", got)
    return ELEMENT_TYPES[code]


def numbers(tensor: onnx.TensorProto, where: str, raw: bytes | None = None) -> np.ndarray:
    """The numbers of a stored tensor, as they are inside the graph; those of float16 and bfloat16 as they are stored.

    float16 stays float16 (half the memory; operators widen what they use), bfloat16 becomes float32.

    Parameters
    ----------
    tensor : from a file
    where : what messages call it
    raw : its bytes, if they lie in another file

    Raises
    ------
    ModelFormatError
        If its numbers are not as many as its shape says, or a size is negative.
    UnsupportedOperatorError
        If it is text.
    """
    inside = element_type(tensor.data_type, where).inside
    if raw is None and tensor.HasField("raw_data"):
        raw = tensor.raw_data
    count = count_of(tensor, where)
    _check_count(tensor, count, where, raw)
    stored = np.dtype(np.float16) if tensor.data_type == FLOAT16 else inside
    if raw is not None and BITS[tensor.data_type] == 8 * stored.itemsize and tensor.data_type not in _CODED:
        array = np.frombuffer(raw, stored.newbyteorder("<")).reshape(tuple(tensor.dims))
        return array.view(np.uint8) != 0 if inside == np.bool_ else array.astype(stored, copy=False)
    return _decoded(tensor, raw).astype(stored, copy=False)


def count_of(tensor: onnx.TensorProto, where: str) -> int:
    """How many numbers a tensor has by its shape.

    Raises
    ------
    ModelFormatError
        If a size is negative.
    """
    if any(size < 0 for size in tensor.dims):
        raise ModelFormatError(where, "sizes from 0 on", tuple(tensor.dims))
    return math.prod(tensor.dims)


def bytes_needed(tensor: onnx.TensorProto, where: str) -> int:
    """How many bytes a tensor's numbers take; errors are those of ``numbers``."""
    element_type(tensor.data_type, where)
    return -(-count_of(tensor, where) * BITS[tensor.data_type] // 8)


def _check_count(tensor: onnx.TensorProto, count: int, where: str, raw: bytes | None) -> None:
    """Refuse a tensor that has more numbers than it should, or fewer."""
    bits = BITS[tensor.data_type]
    if raw is not None:
        if len(raw) != bytes_needed(tensor, where):
            raise ModelFormatError(where, f"{bytes_needed(tensor, where)} bytes of numbers", len(raw))
        return
    stored = max(len(getattr(tensor, field)) for field in DATA_FIELDS)
    needed = count * 2 if tensor.data_type in (COMPLEX64, COMPLEX128) else -(-count * min(bits, 8) // 8)
    if stored != needed:
        raise ModelFormatError(where, f"{needed} numbers", stored)


def _decoded(tensor: onnx.TensorProto, raw: bytes | None) -> np.ndarray:
    """The numbers of a tensor whose types or ways of storing only the onnx package knows."""
    import onnx
    from onnx import numpy_helper

    if raw is not None and not tensor.HasField("raw_data"):
        tensor = onnx.TensorProto(dims=tensor.dims, data_type=tensor.data_type, raw_data=raw)
    return np.asarray(numpy_helper.to_array(tensor))
