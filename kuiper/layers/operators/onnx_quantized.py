"""Numbers as steps of a scale, in ONNX's spelling: QuantizeLinear, QLinearConv, MatMulInteger, ...

    number = (step - zero_point) * scale            step = saturate(round(number / scale) + zero_point)

Products of steps are added up exactly: as float64, in which every sum of 32 bits is a number of its own, and which
NumPy multiplies fast. They are brought to the steps of the result as onnxruntime does it, in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_casts import cast_to, element_type
from kuiper.layers.operators.onnx_convolution import OnnxConv
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_RANGES = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "uint16": (0, 65535),
    "int16": (-32768, 32767),
    "uint4": (0, 15),
    "int4": (-8, 7),
    "uint2": (0, 3),
    "int2": (-2, 1),
}
"""The steps of a type of integers."""


class _Scaled(Layer):
    """What has a scale, and perhaps a zero point, for all numbers, for each entry of ``axis`` or each block of it."""

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis, self.block = op.int_param("axis", 1), op.int_param("block_size", 0)
        if self.block < 0:
            raise ParameterError(op.where, "block_size >= 0", self.block)

    def spread(self, values: Array, shape: tuple[int, ...]) -> Array:
        """Scales or zero points so that they broadcast with an input of this shape."""
        if values.size == 1:
            return values.reshape(())
        dim = axis(self.axis, len(shape), self.op.where)
        if self.block:
            blocks = tuple(-(-n // self.block) if a == dim else n for a, n in enumerate(shape))
            self.expect(values.shape == blocks, f"one scale for each of {blocks} blocks", values.shape)
            which = np.arange(shape[dim]) // self.block
            return np.take(values, which, dim)
        self.expect(values.shape == shape[dim : dim + 1], f"one scale for each of {shape[dim : dim + 1]}", values.shape)
        return values.reshape(-1, *[1] * (len(shape) - dim - 1))


@register("QuantizeLinear")
class QuantizeLinear(_Scaled):
    """The steps, of element type ``to``, of float32 numbers; inputs: the numbers, the scales, perhaps the zero points.

    ``precision`` is the element type whose numbers the quotients are rounded to first, where it is narrower.

    Source: ONNX, QuantizeLinear.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.to, self.precision = op.str_param("to"), op.str_param("precision", "float")
        self.saturate = op.bool_param("saturate", True)
        for name in (self.to, self.precision):
            element_type(name, op.where)

    def forward(self, x: Array, scale: Array, zero: Array | None = None) -> Array:
        wide = np.float64 if self.precision == "double" else np.float32
        with np.errstate(all="ignore"):
            quotient = x.astype(wide) / self.spread(scale, x.shape).astype(wide)
            if self.precision in ("float16", "bfloat16"):
                quotient = cast_to(quotient, self.precision)
            offset = np.float32(0) if zero is None else self.spread(zero, x.shape)
            if self.to in _RANGES:
                return saturated(quotient, offset, *_RANGES[self.to]).astype(_kept_in(self.to))
            return cast_to(quotient + offset.astype(wide), self.to, self.saturate, where=self.op.where)


@register("DequantizeLinear")
class DequantizeLinear(_Scaled):
    """The numbers of steps, float32; inputs: the steps, the scales, perhaps the zero points.

    Source: ONNX, DequantizeLinear.
    """

    def forward(self, x: Array, scale: Array, zero: Array | None = None) -> Array:
        with np.errstate(all="ignore"):
            steps = x.astype(np.float32)
            if zero is not None:
                steps -= self.spread(zero, x.shape).astype(np.float32)
            return np.asarray(steps * self.spread(scale, x.shape).astype(np.float32), np.float32)


@register("DynamicQuantizeLinear")
class DynamicQuantizeLinear(Layer):
    """float32 numbers as steps, uint8, and the scale and the zero point at which they and 0 just fit.

    Source: ONNX, DynamicQuantizeLinear.
    """

    data_inputs = None

    def forward(self, x: Array) -> tuple[Array, Array, Array]:
        least, most = np.min(x, initial=0).astype(np.float32), np.max(x, initial=0).astype(np.float32)
        with np.errstate(all="ignore"):
            scale = np.float32(1) if least == most else (most - least) / np.float32(255)
            zero = np.asarray(np.clip(np.rint(-least / scale), 0, 255), np.uint8)
            steps = saturated(x / scale, zero, 0, 255).astype(np.uint8)
        return steps, np.asarray(scale, np.float32), zero


@register("MatMulInteger")
class MatMulInteger(Layer):
    """The product of two tensors of steps, less their zero points, int32; it goes round where it has more bits.

    Source: ONNX, MatMulInteger.
    """

    data_inputs = None

    def forward(self, a: Array, b: Array, a_zero: Array | None = None, b_zero: Array | None = None) -> Array:
        return whole_product(self, a, None if a_zero is None else of_rows(a_zero), b, b_zero)


@register("QLinearMatMul")
class QLinearMatMul(Layer):
    """The product of two tensors of steps, as steps: a, its scale, its zero point, the same of b and of the result.

    Source: ONNX, QLinearMatMul.
    """

    data_inputs = None

    def forward(
        self,
        a: Array,
        a_scale: Array,
        a_zero: Array,
        b: Array,
        b_scale: Array,
        b_zero: Array,
        scale: Array,
        zero: Array,
    ) -> Array:
        total = whole_product(self, a, of_rows(a_zero), b, b_zero)
        return requantized(total, of_rows(a_scale) * _one(b_scale) / _one(scale), zero)


@register("ConvInteger")
class ConvInteger(OnnxConv):
    """The convolution of steps with steps, less their zero points, int32.

    Source: ONNX, ConvInteger.
    """

    def forward(self, x: Array, weight: Array, x_zero: Array | None = None, w_zero: Array | None = None) -> Array:
        return whole_convolution(self, x, x_zero, weight, w_zero)


@register("QLinearConv")
class QLinearConv(OnnxConv):
    """A convolution of steps with steps, as steps: x, its scale, its zero point, the same of weight and result.

    A last input may be a bias, int32, in steps of the product.

    Source: ONNX, QLinearConv.
    """

    def forward(  # type: ignore[override]
        self,
        x: Array,
        x_scale: Array,
        x_zero: Array,
        weight: Array,
        w_scale: Array,
        w_zero: Array,
        scale: Array,
        zero: Array,
        bias: Array | None = None,
    ) -> Array:
        total = whole_convolution(self, x, x_zero, weight, w_zero)
        channels = (-1, *[1] * (total.ndim - 2))
        if bias is not None:
            self.expect(bias.shape == total.shape[1:2], f"bias {total.shape[1:2]}", bias.shape)
            total += bias.reshape(channels).astype(np.int32)
        self.expect(w_scale.size in (1, total.shape[1]), f"one scale, or {total.shape[1]}", w_scale.shape)
        return requantized(total, _one(x_scale) * w_scale.reshape(channels) / _one(scale), zero)


def saturated(numbers: Array, zero: Array | np.generic, lowest: int, highest: int) -> Array:
    """The nearest steps, half to even, of numbers that are counted in steps already; NaN is the lowest.

    >>> saturated(np.float32([0.5, 1.5, 300, np.nan]), np.uint8(3), 0, 255).tolist()
    [3.0, 5.0, 255.0, 0.0]
    """
    steps = np.rint(np.nan_to_num(numbers, nan=-np.inf, posinf=np.inf, neginf=-np.inf))
    return np.asarray(np.clip(steps.astype(np.float64) + np.asarray(zero, np.float64), lowest, highest))


def requantized(total: Array, scale: Array, zero: Array) -> Array:
    """Sums of products as steps of another scale, in the element type of its zero point.

    >>> requantized(np.int32([10, -10]), np.float32(0.25), np.uint8(1))
    array([3, 0], dtype=uint8)
    """
    info = np.iinfo(zero.dtype)
    numbers = total.astype(np.float32) * np.asarray(scale, np.float32)
    return saturated(numbers, _one(zero), int(info.min), int(info.max)).astype(zero.dtype)


def whole_product(layer: Layer, a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> Array:
    """``(a - a_zero) @ (b - b_zero)`` in 32 bits."""
    layer.expect(
        a.ndim > 0 < b.ndim and a.shape[-1] == b.shape[max(b.ndim - 2, 0)], "factors that fit", (a.shape, b.shape)
    )
    return in_32_bits(np.matmul(_above(a, a_zero), _above(b, b_zero)))


def whole_convolution(layer: OnnxConv, x: Array, x_zero: Array | None, weight: Array, w_zero: Array | None) -> Array:
    """The convolution of ``x - x_zero``, with zeros around it, and ``weight - w_zero`` in 32 bits."""
    if w_zero is not None and w_zero.size > 1:
        layer.expect(w_zero.shape == weight.shape[:1], f"one zero point, or {weight.shape[:1]}", w_zero.shape)
        w_zero = w_zero.reshape(-1, *[1] * (weight.ndim - 1))
    return in_32_bits(OnnxConv.forward(layer, _above(x, x_zero), _above(weight, w_zero)))


def in_32_bits(total: Array) -> Array:
    """Integers in float64 as int32, which goes round.

    >>> in_32_bits(np.float64([7, 2.0**31]))
    array([          7, -2147483648], dtype=int32)
    """
    return total.astype(np.int64).astype(np.int32)


def of_rows(values: Array) -> Array:
    """Scales or zero points, one for each row of a matrix if they are a vector."""
    return values.reshape(-1, 1) if values.ndim == 1 and values.size > 1 else _one(values)


def _above(x: Array, zero: Array | None) -> Array:
    return np.asarray(x.astype(np.float64) - (0 if zero is None else _one(zero).astype(np.float64)))


def _one(values: Array) -> Array:
    """A vector of one number as that number."""
    return values.reshape(()) if values.size == 1 else values


def _kept_in(name: str) -> np.dtype:
    """The type that has the steps of a type: of int4 and the like, one byte each."""
    small = math.log2(_RANGES[name][1] - _RANGES[name][0] + 1) < 8
    return np.dtype(np.int8 if name.startswith("int") else np.uint8) if small else element_type(name)
