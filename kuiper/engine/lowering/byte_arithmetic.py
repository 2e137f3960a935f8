"""Sums and products of bytes, number by number: QLinearAdd and QLinearMul."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import common_shape, decline_if
from kuiper.engine.kernels.byte_arithmetic import ByteArithmetic, ByteProduct, ByteSum
from kuiper.engine.lowering.byte_values import BYTES, by_name, number_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import memory_like
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.fused.quantized import QuantizedAdd
from kuiper.layers.operators.onnx_contrib_quantized import QLinearArithmetic, fused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder

_OPERATIONS = 4  # for each number


@lowers(QuantizedAdd)
def lower_quantized_add(layer: QuantizedAdd, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """What a pass has made of a sum of floats."""
    operands = _operands(builder, inputs)
    scales = [np.float32(scale) for scale in layer.scales]
    return [_added(builder, operands, scales, [*layer.zeros, int(layer.zero)])]


@lowers(QLinearArithmetic)
def lower_qlinear_arithmetic(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """QLinearAdd and QLinearMul of tensors that broadcast, one of which may be a constant."""
    given = by_name(layer, inputs, "A A_scale A_zero_point B B_scale B_zero_point C_scale C_zero_point")
    scales = [number_of(given, f"{word}_scale") for word in "ABC"]
    zeros = [number_of(given, f"{word}_zero_point") for word in "ABC"]
    decline_if(None in scales or None in zeros)
    operands = _operands(builder, [given["A"], given["B"]])
    function = _added if layer.op.type == "QLinearAdd" else _multiplied
    settled = [np.float32(scale) for scale in scales], [int(zero) for zero in zeros]
    return [function(builder, operands, *settled)]


def _operands(builder: Builder, inputs: Sequence[AnyValue]) -> list[Value]:
    """Two tensors of bytes of one type on the arena."""
    operands = [builder.tensor(value) for value in inputs]
    kinds = {value.view.dtype for value in operands}
    decline_if(len(operands) != 2 or len(kinds) != 1 or not kinds <= set(BYTES))
    return operands


def _added(builder: Builder, operands: list[Value], scales: list[np.float32], zeros: list[int]) -> Value:
    order = [0, 1]
    if operands[0].view.size == 1 < operands[1].view.size:
        order = [1, 0]  # as onnxruntime, whose sum is not the same in the other order
    ratio_a, ratio_b = (scales[k] / scales[2] for k in order)
    zero_a, zero_b = (zeros[k] for k in order)
    fixed = np.float32(zeros[2]) - fused(ratio_a, zero_a, ratio_b * np.float32(zero_b))
    numbers = {"ratio_a": float(ratio_a), "ratio_b": float(ratio_b), "fixed": float(fixed)}
    return _emit(builder, "sum of bytes", ByteSum, [operands[k] for k in order], numbers)


def _multiplied(builder: Builder, operands: list[Value], scales: list[np.float32], zeros: list[int]) -> Value:
    order = [1, 0] if operands[0].view.size < operands[1].view.size else [0, 1]  # the one that repeats is the second
    ratio = scales[0] * scales[1] / scales[2]
    numbers = {"ratio": float(ratio), "zero_a": zeros[order[0]], "zero_b": zeros[order[1]], "zero": zeros[2]}
    return _emit(builder, "product of bytes", ByteProduct, [operands[k] for k in order], numbers)


def _emit(
    builder: Builder, name: str, step: type[ByteArithmetic], operands: list[Value], numbers: dict[str, float]
) -> Value:
    """Add the step of both operands as they lie."""
    shape, dtype = common_shape(*(operand.shape for operand in operands)), operands[0].view.dtype
    out, limits = memory_like(builder, operands, shape, dtype), np.iinfo(dtype)
    spread = [Value(value.buffer, np.broadcast_to(value.view, shape)) for value in operands]
    ends = {"low": limits.min, "high": limits.max, "flip": 128 if dtype == np.int8 else 0}

    def make() -> ByteArithmetic:
        places = [(value.byte_offset, value.view.strides) for value in (out, *spread)]
        return step({**numbers, **ends}, shape, places)

    builder.emit(name, make, reads=operands, writes=[out], flops=_OPERATIONS * out.view.size)
    return out
