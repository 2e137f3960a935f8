"""The element types of ONNX, and what arrays of each look like inside the graph.

A type that NumPy lacks lives inside the graph as the nearest type that holds all of its values: the small floats
(float16, bfloat16, float8, float4) as float32, the small integers (int4, int2) as int8 or uint8. Nothing is lost: a
``Cast`` to such a type rounds, and the numbers stay as wide as the arithmetic. An output that the file declares as
float16 leaves the graph as float16; the other small types leave as they are inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import UnsupportedOperatorError
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


def numbers(tensor: onnx.TensorProto, where: str, folder: str = "") -> np.ndarray:
    """The numbers of a stored tensor, as they are inside the graph; those of float16 and bfloat16 as they are stored.

    float16 stays float16 (half the memory; operators widen what they use), bfloat16 becomes float32.
    """
    from onnx import numpy_helper

    inside = element_type(tensor.data_type, where).inside
    array = numpy_helper.to_array(tensor, folder)
    if tensor.data_type == FLOAT16:
        return array
    return array if array.dtype == inside else array.astype(inside)
