"""What passes make of operators that compute with bytes, and of those around them: one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.activation import Activation
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_contrib_quantized import sum_of_bytes
from kuiper.layers.operators.onnx_convolution import OnnxConv
from kuiper.layers.operators.onnx_quantized import of_rows, requantized, whole_convolution, whole_product
from kuiper.layers.quantized_numbers import Quantized
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class _Product:
    """Weights, int8 or int16, a bias, int32, what sums are multiplied with, and the zero points of both ends."""

    def __init__(self, op: RuntimeOperator) -> None:
        self.weight, self.scale = op.attribute("weight").data, op.attr("scale")
        self.bias = op.attribute("bias").data if "bias" in op.attrs else None
        self.x_zero, self.zero = np.asarray(op.int_param("x_zero_point")), zero_of(op)

    def finished(self, total: Array, axis: int) -> Array:
        """Sums, whose outputs are along an axis, with the bias and as bytes."""
        behind = (-1, *[1] * (total.ndim - 1 - axis))
        if self.bias is not None:
            total += self.bias.reshape(behind)
        return requantized(total, self.scale.reshape(behind), self.zero)


def zero_of(op: RuntimeOperator) -> Array:
    """The zero point of the output, in its element type.

    Raises
    ------
    ParameterError
        If that is neither int8 nor uint8, or does not hold the zero point.
    """
    to, number = op.str_param("to"), op.int_param("zero_point")
    if to not in ("int8", "uint8") or not np.iinfo(to).min <= number <= np.iinfo(to).max:
        raise ParameterError(op.where, "to=int8 or uint8, and a zero_point that it holds", (to, number))
    return np.asarray(number, to)


@register("kuiper.QuantizedConv")
class QuantizedConv(OnnxConv):
    """A convolution of bytes: ``QLinearConv`` with all but its input fixed.

    Source: made by the pass multiply_in_bytes.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.product = _Product(op)

    def forward(self, x: Array) -> Array:  # type: ignore[override]
        total = whole_convolution(self, x, self.product.x_zero, self.product.weight, None)
        return self.product.finished(total, 1)


@register("kuiper.QuantizedLinear")
class QuantizedLinear(Layer):
    """A linear layer on bytes, its weight (out_features, in_features).

    Source: made by the pass multiply_in_bytes.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.product = _Product(op)

    def forward(self, x: Array) -> Array:
        total = whole_product(self, x, self.product.x_zero, self.product.weight.T, None)
        return self.product.finished(total, total.ndim - 1)


class _ToFloats:
    """What sums of bytes go through to become floats: a bias of floats, if there is one, and an activation."""

    def __init__(self, op: RuntimeOperator) -> None:
        self.activation, self.where = Activation.read(op), op.where
        self.bias = op.attr("bias") if "bias" in op.attrs else None

    def finished(self, total: Array, scale: Array, added: Array | None, axis: int) -> Array:
        """Sums, whose outputs are along an axis, plus ``added``, as floats."""
        if added is not None:
            total = total + added
        floats = total.astype(np.float32) * scale
        if self.bias is not None:
            floats = floats + self.bias.reshape(-1, *[1] * (total.ndim - 1 - axis))
        return self.activation.apply(np.asarray(floats), self.where)


@register("kuiper.FusedConvInteger")
class FusedConvInteger(OnnxConv):
    """A convolution of bytes as floats: ``ConvInteger``, its scale and its bias.

    Inputs: those of ConvInteger, the scale of the sums, one or one for each channel, and perhaps integers that are
    added to them.

    Source: made by the pass fuse_scales_into_integer_products.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.ending = _ToFloats(op)
        self.activation = self.ending.activation

    def forward(  # type: ignore[override]
        self, x: Array, weight: Array, x_zero: Array, w_zero: Array, scale: Array, added: Array | None = None
    ) -> Array:
        total = whole_convolution(self, x, x_zero, weight, w_zero)
        return self.ending.finished(total, scale, added, 1)


@register("kuiper.FusedMatMulInteger")
class FusedMatMulInteger(Layer):
    """A product of bytes as floats: ``MatMulInteger``, its scale and its bias.

    Inputs: those of MatMulInteger, the scale of the sums, one or one for each column, and perhaps integers that
    are added to them.

    Source: made by the pass fuse_scales_into_integer_products.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.ending = _ToFloats(op)
        self.activation = self.ending.activation

    def forward(
        self, a: Array, b: Array, a_zero: Array, b_zero: Array, scale: Array, added: Array | None = None
    ) -> Array:
        total = whole_product(self, a, of_rows(a_zero), b, b_zero)
        return self.ending.finished(total, scale, added, total.ndim - 1)


@register("kuiper.QuantizedAdd")
class QuantizedAdd(Layer):
    """The sum of two tensors of bytes as bytes, ``QLinearAdd``; ``scales`` are those of both and of the sum.

    Source: made by the pass multiply_in_bytes.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.scales, self.zeros = op.attr("scales"), op.ints_param("zero_points")
        self.zero = zero_of(op)
        self.expect(self.scales.shape == (3,) and len(self.zeros) == 2, "three scales and two zero points", self.zeros)

    def forward(self, a: Array, b: Array) -> Array:
        first, second = (Quantized(x, self.scales[k], self.zeros[k]) for k, x in enumerate((a, b)))
        return sum_of_bytes(first, second, self.scales[2], int(self.zero))


@register("kuiper.ByteTable")
class ByteTable(Layer):
    """What ``table`` has for each byte, of 256 entries; ``of`` is the type of the input, int8 counts by its bits.

    Source: made by the pass tabulate_functions_of_bytes.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.of, self.table = op.str_param("of"), op.attribute("table").data
        if self.of not in ("int8", "uint8"):
            raise ParameterError(op.where, "of=int8 or uint8", self.of)
        self.expect(self.table.shape == (256,) and self.table.itemsize == 1, "a table of 256 bytes", self.table.shape)

    def forward(self, x: Array) -> Array:
        self.expect(x.dtype == self.of, f"input of {self.of}", x.dtype)
        return np.asarray(self.table[np.ascontiguousarray(x).view(np.uint8)]).reshape(x.shape)
