"""Inputs and outputs of a network as the Open Inference Protocol has them: names, datatypes, shapes, and numbers."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kuiper.graph.boundary import input_dtype
from kuiper.graph.pnnx.ir import DataType
from kuiper.serving.http.api_error import ApiError, wrong_field

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperand

Array = npt.NDArray[Any]

DATATYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    **{f"UINT{bits}": np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"INT{bits}": np.dtype(f"<i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"FP{bits}": np.dtype(f"<f{bits // 8}") for bits in (16, 32, 64)},
}
"""The protocol's datatypes that a network takes or gives, as NumPy lays them out: little-endian."""

_NAMES = {dtype: name for name, dtype in DATATYPES.items()}
_MOST_AXES = 32


@dataclass(frozen=True)
class TensorSpec:
    """An input or an output by what the file declares: -1 for an open axis, one -1 for a shape that is not known."""

    name: str
    datatype: str
    shape: list[int]

    @classmethod
    def of(cls, name: str, operand: RuntimeOperand) -> TensorSpec:
        """That of an operand. Numbers that the file has in 16 bits are float32 inside a graph."""
        is_known = operand.type is not DataType.NULL
        datatype = datatype_of(input_dtype(operand)) if is_known else "FP32"
        shape = operand.shape if operand.shape is not None else (None,)
        return cls(name, datatype, [size if isinstance(size, int) else -1 for size in shape])

    def described(self) -> dict[str, Any]:
        """As the protocol has it."""
        return {"name": self.name, "datatype": self.datatype, "shape": self.shape}


def datatype_of(dtype: np.dtype[Any]) -> str:
    """The protocol's name of an element type; "" if it has none.

    >>> datatype_of(np.dtype(np.int64)), datatype_of(np.dtype(complex))
    ('INT64', '')
    """
    return _NAMES.get(dtype.newbyteorder("<"), "")


def checked_shape(where: str, shape: object, most: int) -> tuple[int, ...]:
    """A shape as JSON has it, of at most ``most`` elements.

    Raises
    ------
    ApiError
        If it is none.
    """
    is_shape = isinstance(shape, list) and len(shape) <= _MOST_AXES
    if not is_shape or not all(type(size) is int and 0 <= size <= most for size in shape):  # type: ignore[attr-defined]
        raise wrong_field(f"{where}.shape", f"a list of at most {_MOST_AXES} whole numbers from 0 to {most}", shape)
    sizes: tuple[int, ...] = tuple(shape)  # type: ignore[arg-type]
    if math.prod(size or 1 for size in sizes) > most:
        raise wrong_field(f"{where}.shape", f"a shape of at most {most} elements", shape)
    return sizes


def of_bytes(where: str, data: bytes | memoryview, datatype: str, shape: tuple[int, ...]) -> Array:
    """The array that the protocol's binary form is.

    >>> of_bytes("x", b"\\x01\\x00", "INT16", (1,))
    array([1], dtype=int16)

    Raises
    ------
    ApiError
        If it has not as many bytes as the shape says.
    """
    dtype = DATATYPES[datatype]
    expected = math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise wrong_field(f"{where}.data", f"{expected} bytes for {datatype} of shape {list(shape)}", len(data))
    array: Array
    if datatype == "BOOL":  # a byte of another value is no bool
        array = np.frombuffer(data, np.uint8) != 0
    else:
        array = np.require(np.frombuffer(data, dtype), dtype.newbyteorder("="), ["ALIGNED"])
    return array.reshape(shape)


def of_json(where: str, data: object, datatype: str, shape: tuple[int, ...]) -> Array:
    """The array that numbers of JSON are, nested or in one row.

    >>> of_json("x", [[1, 2], [3, 4]], "FP32", (2, 2)).dtype
    dtype('float32')

    Raises
    ------
    ApiError
        If there are more or fewer than the shape says, or they are not of this datatype.
    """
    dtype, count = DATATYPES[datatype], math.prod(shape)
    values = _row(data)
    if values is None or len(values) != count:
        got = reprlib.repr(data) if values is None else f"{len(values)}"
        raise ApiError(400, f"{where}.data: expected {count} numbers for the shape {list(shape)}, got {got}")
    expected, kinds, least, most = _allowed(dtype)
    for value in values:
        if type(value) not in kinds or not least <= value <= most:
            raise wrong_field(f"{where}.data", expected, value)
    return np.array(values, dtype.newbyteorder("=")).reshape(shape)


def _allowed(dtype: np.dtype[Any]) -> tuple[str, tuple[type, ...], float, float]:
    """What JSON may have for an element type: in words, the Python types, the least and the largest."""
    if dtype.kind == "b":
        return "true or false", (bool,), 0, 1
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        return f"numbers of {_NAMES[dtype]}", (int, float), -most, most
    bounds = np.iinfo(dtype)
    return f"whole numbers from {bounds.min} to {bounds.max}", (int,), bounds.min, bounds.max


def _row(data: object) -> list[Any] | None:
    """The numbers of nested lists in order; None if they are no lists, or unlike ones."""
    if not isinstance(data, list):
        return None
    while any(isinstance(item, list) for item in data):
        if not all(isinstance(item, list) for item in data):
            return None
        data = [item for part in data for item in part]
    return data
