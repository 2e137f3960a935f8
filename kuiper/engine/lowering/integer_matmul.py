"""Products of bytes with a constant matrix, MatMulInteger and QLinearMatMul: convolutions of 1 x 1, rows as pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.integer_packing import without_zero_point
from kuiper.engine.lowering.byte_values import as_byte_rows, by_name, bytes_on_arena, constant_of
from kuiper.engine.lowering.convolution import POINTWISE
from kuiper.engine.lowering.integer_convolution import (
    IntegerLayer,
    emit_integer_convolution,
    requantised,
    zero_point,
)
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.onnx_quantized import MatMulInteger, QLinearMatMul

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner
    from kuiper.layers.layer import Array


@lowers(MatMulInteger)
def lower_matmul_integer(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """Sums of 32 bits."""
    given = by_name(layer, inputs, "A B a_zero_point b_zero_point")
    matrix = _matrix(given, "B", "b_zero_point")
    zero = zero_point(given.get("a_zero_point"))
    x = None if matrix is None or zero is None else bytes_on_arena(planner, given["A"])
    if x is None or matrix is None or zero is None or x.shape[-1] != matrix.weight.shape[1]:
        return None
    out = planner.typed((*x.shape[:-1], len(matrix.weight)), np.dtype(np.int32))
    emit_integer_convolution(planner, _pixels(as_byte_rows(planner, x)), _pixels(_rows(out)), matrix, zero, None)
    return [out]


@lowers(QLinearMatMul)
def lower_qlinear_matmul(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """Bytes again."""
    names = "a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point"
    given = by_name(layer, inputs, names)
    matrix = _matrix(given, "b", "b_zero_point")
    zero = zero_point(given.get("a_zero_point"))
    if matrix is None or zero is None:
        return None
    back = requantised(given, ("a_scale", "b_scale", "y_scale"), "y_zero_point", len(matrix.weight))
    x = None if back is None else bytes_on_arena(planner, given["a"])
    if x is None or back is None or x.shape[-1] != matrix.weight.shape[1]:
        return None
    out = planner.typed((*x.shape[:-1], len(matrix.weight)), back.dtype)
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
