"""Products of bytes with a constant matrix, MatMulInteger and QLinearMatMul: convolutions of 1 x 1, rows as pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.integer_packing import without_zero_point
from kuiper.engine.lowering.byte_values import as_byte_rows, by_name, bytes_on_arena, constant_of
from kuiper.engine.lowering.convolution import POINTWISE
from kuiper.engine.lowering.integer_convolution import (
    IntegerLayer,
    Requantisation,
    ZeroPoint,
    emit_integer_convolution,
    requantised,
    zero_point,
)
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.fused.quantized import QuantizedLinear
from kuiper.layers.operators.onnx_contrib_products import QGemm
from kuiper.layers.operators.onnx_quantized import MatMulInteger, QLinearMatMul

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner
    from kuiper.layers.layer import Array


@lowers(MatMulInteger)
def lower_matmul_integer(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """Sums of 32 bits."""
    given = by_name(layer, inputs, "A B a_zero_point b_zero_point")
    return _product(planner, given["A"], _matrix(given, "B", "b_zero_point"), zero_point(given.get("a_zero_point")))


@lowers(QLinearMatMul)
def lower_qlinear_matmul(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """Bytes again."""
    names = "a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point"
    given = by_name(layer, inputs, names)
    matrix = _matrix(given, "b", "b_zero_point")
    if matrix is None:
        return None
    back = requantised(given, ("a_scale", "b_scale", "y_scale"), "y_zero_point", len(matrix.weight))
    zero = None if back is None else zero_point(given.get("a_zero_point"))
    return _product(planner, given["a"], matrix, zero, back)


@lowers(QuantizedLinear)
def lower_quantized_linear(
    layer: QuantizedLinear, inputs: list[AnyValue], planner: Planner
) -> Sequence[AnyValue] | None:
    """What a pass has made of a linear layer of floats."""
    product = layer.product
    matrix = IntegerLayer(product.weight[:, :, None, None].astype(np.int16), product.bias, 1, POINTWISE)
    back = Requantisation(product.scale, int(product.zero), product.zero.dtype)
    return _product(planner, inputs[0], matrix, ZeroPoint(int(product.x_zero)), back)


@lowers(QGemm)
def lower_qgemm(layer: QGemm, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """A linear layer of bytes in onnxruntime's words, if its result is bytes, too."""
    names = "A a_scale a_zero_point b_scale C y_scale y_zero_point"
    given, weights = by_name(layer, inputs, names), layer.weights
    if "B" not in weights or weights["B"].ndim != 2 or len(given["A"].shape) != 2 or _has_more(layer, given):
        return None
    numbers = weights["B"] if layer.op.bool_param("transB", False) else weights["B"].T
    bias = constant_of(given.get("C"))
    if "C" in given and (bias is None or bias.dtype != np.int32 or bias.shape != (len(numbers),)):
        return None
    weight = without_zero_point(numbers[:, :, None, None], weights.get("b_zero_point", np.zeros(1, np.int16)))
    back = requantised(given, ("a_scale", "b_scale", "y_scale"), "y_zero_point", len(numbers))
    matrix = IntegerLayer(weight, bias, 1, POINTWISE)
    zero = None if back is None else zero_point(given.get("a_zero_point"))
    return _product(planner, given["A"], matrix, zero, back)


def _has_more(layer: QGemm, given: dict[str, AnyValue]) -> bool:
    """Whether there is more to do than to multiply and to add."""
    turned = layer.op.bool_param("transA", False) or layer.op.float_param("alpha", 1.0) != 1.0
    return turned or "y_zero_point" not in given or "b_zero_point" in given


def _product(
    planner: Planner,
    value: AnyValue,
    matrix: IntegerLayer | None,
    zero: ZeroPoint | None,
    back: Requantisation | None = None,
) -> Sequence[AnyValue] | None:
    """Rows of bytes times a matrix; None if they do not fit each other, or something is missing."""
    x = None if matrix is None or zero is None else bytes_on_arena(planner, value)
    if x is None or matrix is None or zero is None or x.shape[-1] != matrix.weight.shape[1]:
        return None
    out = planner.typed((*x.shape[:-1], len(matrix.weight)), np.dtype(np.int32) if back is None else back.dtype)
    emit_integer_convolution(planner, _pixels(as_byte_rows(planner, x)), _pixels(_rows(out)), matrix, zero, back)
    return [out]


def _matrix(given: dict[str, AnyValue], name: str, zero_name: str) -> IntegerLayer | None:
    """A constant matrix (k, n) as the weights of a convolution of 1 x 1."""
    numbers, zero = constant_of(given.get(name)), constant_of(given.get(zero_name))
    if numbers is None or numbers.ndim != 2 or numbers.dtype.itemsize != 1 or not numbers.size:
        return None
    if (zero is None and zero_name in given) or (zero is not None and zero.size not in (1, numbers.shape[1])):
        return None
    weight: Array = numbers.T[:, :, None, None]
    return IntegerLayer(without_zero_point(weight, np.zeros(1, np.int16) if zero is None else zero), None, 1, POINTWISE)


def _rows(value: Value) -> Value:
    return Value(value.storage, value.view.reshape(-1, value.shape[-1]))


def _pixels(rows: Value) -> Value:
    """Rows as the pixels of an image of height 1."""
    return Value(rows.storage, rows.view.T[None, :, None, :])
