"""What a PNNX file says of numbers, arrays and names that an ONNX file has."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kuiper.graph import pnnx
from kuiper.graph.pnnx import DataType, Parameter, ParameterType
from kuiper.onnx.element_types import ELEMENT_TYPES

_BLANKS = re.compile(r"[\x00-\x20\x7f=\ud800-\udfff]+")

_OF_DTYPES = {one.inside: one.declared for one in reversed(list(ELEMENT_TYPES.values()))} | {
    np.dtype(np.float32): DataType.F32,
    np.dtype(np.float16): DataType.F16,
    np.dtype(np.int8): DataType.I8,
    np.dtype(np.uint8): DataType.U8,
}


def parameter(value: Any) -> Parameter:
    """A setting with the kind that PNNX gives to such a value.

    >>> parameter([1, 2]).type.name
    'INT_LIST'
    """
    if isinstance(value, (list, tuple)):
        kinds = {type(item) for item in value}
        if kinds <= {int}:
            return Parameter(ParameterType.INT_LIST, list(value))
        if kinds <= {int, float}:
            return Parameter(ParameterType.FLOAT_LIST, [float(item) for item in value])
        return Parameter(ParameterType.STRING_LIST, list(value))
    kinds_of = {
        type(None): ParameterType.NULL,
        bool: ParameterType.BOOL,
        int: ParameterType.INT,
        float: ParameterType.FLOAT,
        str: ParameterType.STRING,
    }
    return Parameter(kinds_of[type(value)], value)


def attribute(data: np.ndarray) -> pnnx.Attribute:
    """A weight; the array is kept as it is, so that operators can share it."""
    return pnnx.Attribute(_OF_DTYPES[data.dtype], data.shape, data)


def type_code(dtype: np.dtype) -> int:
    """The number of the ONNX type that a NumPy type is."""
    if dtype == np.float16:
        return 10
    return next((code for code, one in ELEMENT_TYPES.items() if one.inside == dtype), 0)


def widened(array: np.ndarray) -> np.ndarray:
    """Numbers as operators compute with them: float16 is how weights are stored only."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def literal(constant: np.ndarray | None, keeps_axes: bool) -> str:
    """The number of a constant as a word of an expression; "" if it is no number, or its axes would be missed."""
    if constant is None or constant.size != 1 or constant.dtype.kind not in "fiu" or (constant.ndim and not keeps_axes):
        return ""
    if constant.ndim > 1:
        return ""
    number = constant.reshape(())[()]
    if constant.dtype.kind in "iu":
        return str(int(number)) if int(number) < 2**63 else ""  # a word holds 64 bits with a sign
    return repr(float(str(number))) if np.isfinite(number) else ""


def one_word(name: str) -> str:
    """A name that fits in a line of a PNNX file."""
    return _BLANKS.sub("_", name)


def unused(name: str, used: dict[str, int]) -> str:
    """The name, or one like it that is not used yet; ``used`` counts how often each was asked for."""
    found = name
    while found in used:
        used[name] += 1
        found = f"{name}_{used[name]}"
    used[found] = 1
    return found
