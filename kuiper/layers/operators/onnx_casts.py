"""ONNX's Cast and BitCast, for the element types that torch has no word for.

A number of a type that NumPy lacks (float16 counts among them) is kept as the nearest type that has it: a small float
as float32, int4 and int2 as int8. So a cast to such a type rounds, and its result is as wide as before.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, UnsupportedOperatorError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_SMALL = {
    "bfloat16": ("bfloat16", np.float32),
    "float8e4m3fn": ("float8_e4m3fn", np.float32),
    "float8e4m3fnuz": ("float8_e4m3fnuz", np.float32),
    "float8e5m2": ("float8_e5m2", np.float32),
    "float8e5m2fnuz": ("float8_e5m2fnuz", np.float32),
    "float8e8m0": ("float8_e8m0fnu", np.float32),
    "float4e2m1": ("float4_e2m1fn", np.float32),
    "int4": ("int4", np.int8),
    "uint4": ("uint4", np.uint8),
    "int2": ("int2", np.int8),
    "uint2": ("uint2", np.uint8),
}
"""By ONNX's name of a type: that of ml_dtypes, and the NumPy type that has its numbers."""

_OF_NUMPY = {"float": "float32", "double": "float64"}
_SATURATED = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
_ROUND_MODES = ("up", "down", "nearest")


@register("Cast")
class OnnxCast(Layer):
    """The input in the element type ``to``, by ONNX's name for it.

    ``saturate`` makes what is too large for a float8 its largest number, ``round_mode`` is for float8e8m0.

    Source: ONNX, Cast.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.to = op.str_param("to")
        self.saturate = op.bool_param("saturate", True)
        self.round_mode = op.str_param("round_mode", "up")
        if self.round_mode not in _ROUND_MODES:
            raise ParameterError(op.where, f"round_mode {', '.join(_ROUND_MODES)}", self.round_mode)
        element_type(self.to, op.where)

    def forward(self, x: Array | float) -> Array:
        return cast_to(np.asarray(x), self.to, self.saturate, self.round_mode, self.op.where)


@register("BitCast")
class OnnxBitCast(Layer):
    """The bits of the input, which are those of type ``of``, read as type ``to``, which has as many.

    Source: ONNX, BitCast.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.of, self.to = op.str_param("of"), op.str_param("to")
        sizes = [_bits(name, op.where) for name in (self.of, self.to)]
        if sizes[0] != sizes[1]:
            raise DataTypeError(op.where, f"a type of {sizes[0]} bits, as {self.of} has", self.to)

    def forward(self, x: Array) -> Array:
        stored = np.ascontiguousarray(x).astype(element_type(self.of, self.op.where), copy=False)
        return kept(np.asarray(stored).view(element_type(self.to, self.op.where)).reshape(np.shape(x)), self.to)


@cache
def element_type(name: str, where: str = "cast") -> np.dtype:
    """The type that NumPy, or ml_dtypes, has for an element type of ONNX.

    >>> element_type("float"), element_type("float8e5m2")
    (dtype('float32'), dtype(float8_e5m2))

    Raises
    ------
    UnsupportedOperatorError
        If there is none, or the package ml_dtypes, which comes with onnx, is missing.
    """
    if name not in _SMALL:
        try:
            return np.dtype(_OF_NUMPY.get(name, name))
        except TypeError:
            raise UnsupportedOperatorError(where, "an element type of ONNX", name) from None
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise UnsupportedOperatorError(where, f"the package ml_dtypes for {name}", "none") from None
    found: np.dtype = np.dtype(getattr(ml_dtypes, _SMALL[name][0]))
    return found


def cast_to(x: Array, name: str, saturate: bool = True, round_mode: str = "up", where: str = "cast") -> Array:
    """``x`` as ONNX casts it to the element type of this name, in the type that its numbers are kept in.

    >>> cast_to(np.float32([1.06, 500]), "float8e4m3fn").tolist()
    [1.0, 448.0]
    """
    dtype = element_type(name, where)
    with np.errstate(all="ignore"):
        if name == "float8e8m0":
            return _powers_of_two(x.astype(np.float32), saturate, round_mode)
        if name in _SATURATED and saturate:
            largest = _largest(name)
            x = np.clip(x, -largest, largest)
        return kept(x.astype(dtype), name)


def kept(x: Array, name: str) -> Array:
    """Numbers of an element type in the type that they are kept in.

    >>> kept(np.float16([0.5]), "float16")
    array([0.5], dtype=float32)
    """
    if name == "float16":
        return np.asarray(x, np.float32)
    return np.asarray(x, _SMALL[name][1]) if name in _SMALL else x


def _largest(name: str) -> float:
    """The largest number of a float8."""
    import ml_dtypes

    finfo: Any = ml_dtypes.finfo
    return float(finfo(element_type(name)).max)


def _bits(name: str, where: str) -> int:
    """How many bits a number has."""
    if name in ("int4", "uint4", "float4e2m1"):
        return 4
    return 2 if name in ("int2", "uint2") else 8 * element_type(name, where).itemsize


def _powers_of_two(x: Array, saturate: bool, round_mode: str) -> Array:
    """The numbers of float8e8m0: powers of two from 2^-127 to 2^127, and NaN.

    Like onnx's own ``to_float8e8m0``: of the bits of a float32 only the exponent stays, rounded.
    """
    bits = np.ascontiguousarray(x).view(np.uint32).reshape(x.shape)
    exponent = (bits >> 23 & 0xFF).astype(np.uint16)
    special = exponent == 0xFF
    if round_mode == "up":
        more = (bits & 0x7FFFFF) > 0
    elif round_mode == "nearest":
        more = ((bits & 0x400000) > 0) & (((bits & 0x3FFFFF) > 0) | (exponent > 0))
    else:
        more = np.zeros(x.shape, np.bool_)
    more &= ~special
    if saturate:
        more &= exponent != 0xFE
    made = np.where(special, 0xFF, exponent + more).astype(np.uint8)
    return np.asarray(made).view(element_type("float8e8m0")).astype(np.float32)
