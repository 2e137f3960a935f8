"""Products of bytes with a constant matrix, MatMulInteger and others: convolutions of 1 x 1, rows as pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.integer_packing import without_zero_point
from kuiper.engine.lowering.byte_products import product_of_stacks
from kuiper.engine.lowering.byte_sums import (
    Dequantisation,
    Ending,
    Requantisation,
    WholeNumbers,
    dequantised,
    requantised,
    to_floats,
)
from kuiper.engine.lowering.byte_values import as_byte_rows, by_name, bytes_on_arena, constant_of, number_of
from kuiper.engine.lowering.convolution import POINTWISE
from kuiper.engine.lowering.integer_convolution import zero_point
from kuiper.engine.lowering.integer_steps import IntegerLayer, ZeroPoint, emit_integer_convolution
from kuiper.engine.lowering.quantize import dynamic_bytes
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.fused.quantized import FusedMatMulInteger, QuantizedLinear
from kuiper.layers.operators.onnx_contrib_products import (
    ByteProduct,
    DynamicQuantizeMatMul,
    MatMulIntegerToFloat,
    QGemm,
)
from kuiper.layers.operators.onnx_quantized import MatMulInteger, QLinearMatMul

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array


@lowers(MatMulInteger)
def lower_matmul_integer(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Sums of 32 bits."""
    given = by_name(layer, inputs, "A B a_zero_point b_zero_point")
    if constant_of(given["B"]) is None:
        return _stacks(builder, given, ("A", "B"), WholeNumbers())
    zero = zero_point(given.get("a_zero_point"))
    return [_product(builder, given["A"], _matrix(given, "B", "b_zero_point"), zero, WholeNumbers())]


@lowers(QLinearMatMul)
def lower_qlinear_matmul(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Bytes again."""
    names = "a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point"
    given = by_name(layer, inputs, names)
    if constant_of(given["b"]) is None:
        one = requantised(given, ("a_scale", "b_scale", "y_scale"), "y_zero_point", 1)
        return _stacks(builder, given, ("a", "b"), one)
    matrix = _matrix(given, "b", "b_zero_point")
    back = requantised(given, ("a_scale", "b_scale", "y_scale"), "y_zero_point", len(matrix.weight))
    zero = zero_point(given.get("a_zero_point"))
    return [_product(builder, given["a"], matrix, zero, back)]


def _stacks(
    builder: Builder, given: dict[str, AnyValue], names: tuple[str, str], ending: WholeNumbers | Requantisation
) -> Sequence[AnyValue]:
    """The product of two tensors that the graph computes, whose zero points are constants."""
    first, second = (number_of(given, f"{name.lower()}_zero_point") for name in names)
    decline_if(first is None or second is None)
    return product_of_stacks(builder, (given[names[0]], given[names[1]]), (int(first), int(second)), ending)


@lowers(QuantizedLinear)
def lower_quantized_linear(layer: QuantizedLinear, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """What a pass has made of a linear layer of floats."""
    product = layer.product
    matrix = IntegerLayer(product.weight[:, :, None, None].astype(np.int16), product.bias, 1, POINTWISE)
    back = Requantisation(product.scale, int(product.zero), product.zero.dtype)
    return [_product(builder, inputs[0], matrix, ZeroPoint(int(product.x_zero)), back)]


@lowers(QGemm)
def lower_qgemm(layer: QGemm, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """A linear layer of bytes in onnxruntime's words, if its result is bytes, too."""
    names = "A a_scale a_zero_point b_scale C y_scale y_zero_point"
    given, weights = by_name(layer, inputs, names), layer.weights
    decline_if("B" not in weights or weights["B"].ndim != 2 or len(given["A"].shape) != 2 or _has_more(layer, given))
    numbers = weights["B"] if layer.op.bool_param("transB", False) else weights["B"].T
    bias = constant_of(given.get("C"))
    decline_if("C" in given and (bias is None or bias.dtype != np.int32 or bias.shape != (len(numbers),)))
    weight = without_zero_point(numbers[:, :, None, None], weights.get("b_zero_point", np.zeros(1, np.int16)))
    back = requantised(given, ("a_scale", "b_scale", "y_scale"), "y_zero_point", len(numbers))
    matrix = IntegerLayer(weight, bias, 1, POINTWISE)
    zero = zero_point(given.get("a_zero_point"))
    return [_product(builder, given["A"], matrix, zero, back)]


@lowers(MatMulIntegerToFloat, DynamicQuantizeMatMul)
def lower_product_to_floats(layer: ByteProduct, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Bytes times a matrix, or floats that become bytes first, as floats."""
    given, weights = by_name(layer, inputs, ""), layer.weights
    scale, bias = (constant_of(given.get(name)) for name in ("b_scale", "bias"))
    if "B" not in weights or weights["B"].ndim != 2 or scale is None or "b_zero_point" in given:
        raise Declined
    outputs, zeros = weights["B"].shape[1], weights.get("b_zero_point", np.zeros(1, np.int16))
    decline_if(scale.size not in (1, outputs) or zeros.size not in (1, outputs) or not weights["B"].size)
    decline_if("bias" in given and (bias is None or bias.shape != (outputs,) or bias.dtype != np.float32))
    x, zero, factor = given["A"], zero_point(given.get("a_zero_point")), given.get("a_scale")
    if factor is None:
        x, factor, zero_value = dynamic_bytes(builder, x, spreads_nan=True)
        zero = ZeroPoint(0, zero_value)
    scales = np.full(outputs, scale.reshape(-1), np.float32)
    ending = dequantised(builder, factor, scales, bias)
    weight = without_zero_point(weights["B"].T[:, :, None, None], zeros)
    matrix = IntegerLayer(weight, None, 1, POINTWISE)
    return [_product(builder, x, matrix, zero, ending)]


@lowers(FusedMatMulInteger)
def lower_matmul_to_floats(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """MatMulInteger with the scale behind it."""
    given = dict(zip(["A", "B", "a_zero_point", "b_zero_point", "scale", "added"], inputs, strict=False))
    matrix, zero = _matrix(given, "B", "b_zero_point"), zero_point(given["a_zero_point"])
    ending = to_floats(builder, layer, given, len(matrix.weight), 0)
    return [_product(builder, given["A"], matrix, zero, ending)]


def _has_more(layer: QGemm, given: dict[str, AnyValue]) -> bool:
    """Whether there is more to do than to multiply and to add."""
    turned = layer.op.bool_param("transA", False) or layer.op.float_param("alpha", 1.0) != 1.0
    return turned or "y_zero_point" not in given or "b_zero_point" in given


def _product(builder: Builder, value: AnyValue, matrix: IntegerLayer, zero: ZeroPoint, ending: Ending) -> Value:
    """Rows of bytes times a matrix; declines if they do not fit each other."""
    x = bytes_on_arena(builder, value)
    decline_if(x.shape[-1] != matrix.weight.shape[1])
    shape = (*x.shape[:-1], len(matrix.weight))
    is_float = isinstance(ending, Dequantisation)
    out = builder.rows(shape) if is_float else builder.typed(shape, ending.dtype)
    emit_rows(builder, x, out, matrix, zero, ending)
    return out


def emit_rows(builder: Builder, x: Value, out: Value, matrix: IntegerLayer, zero: ZeroPoint, ending: Ending) -> None:
    """Add the step from rows of bytes (..., k) to their products (..., n), which lie evenly."""
    emit_integer_convolution(builder, _pixels(as_byte_rows(builder, x)), _pixels(_rows(out)), matrix, zero, ending)


def _matrix(given: dict[str, AnyValue], name: str, zero_name: str) -> IntegerLayer:
    """A constant matrix (k, n) as the weights of a convolution of 1 x 1."""
    numbers, zero = constant_of(given.get(name)), constant_of(given.get(zero_name))
    if numbers is None or numbers.ndim != 2 or numbers.dtype.itemsize != 1 or not numbers.size:
        raise Declined
    decline_if(zero is None and zero_name in given)
    decline_if(zero is not None and zero.size not in (1, numbers.shape[1]))
    weight: Array = numbers.T[:, :, None, None]
    return IntegerLayer(without_zero_point(weight, np.zeros(1, np.int16) if zero is None else zero), None, 1, POINTWISE)


def _rows(value: Value) -> Value:
    return Value(value.buffer, value.view.reshape(-1, value.shape[-1]))


def _pixels(rows: Value) -> Value:
    """Rows as the pixels of an image of height 1."""
    return Value(rows.buffer, rows.view.T[None, :, None, :])
