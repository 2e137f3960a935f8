"""Operators of ONNX and onnxruntime on bytes, in the place of those on floats that a quantised file has.

    torch.matmul               QLinearMatMul                  of two tensors that the graph computes
    mul(@0,@1)                 QLinearMul
    torch.cat                  QLinearConcat
    F.adaptive_avg_pool2d      QLinearGlobalAveragePool       to one pixel

They read the scales and the zero points that DequantizeLinear and QuantizeLinear read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kuiper.graph.declined import Declined, decline_if
from kuiper.graph.passes.fusion import is_product
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

_ENDS = ("", "_scale", "_zero_point")
_MOVES = (
    *("Tensor.reshape", "Tensor.view", "torch.reshape", "torch.flatten", "nn.Flatten"),
    *("Tensor.permute", "torch.permute", "torch.transpose", "Tensor.transpose", "Tensor.slice"),
    *("torch.squeeze", "Tensor.squeeze", "torch.unsqueeze", "Tensor.unsqueeze"),
)
_RESAMPLINGS = ("F.interpolate", "F.upsample", "nn.Upsample")


class _Scaled(NamedTuple):
    """Bytes, their scale and their zero point, as the graph has them; of an output, what it becomes in floats."""

    numbers: RuntimeOperand
    scale: RuntimeOperand
    zero: RuntimeOperand


def only_moves(op: RuntimeOperator) -> bool:
    """Whether each number of its output is one of its first input: bytes do as well as floats."""
    is_nearest = op.str_param("mode", "nearest").startswith("nearest") if op.type in _RESAMPLINGS else False
    return op.type in _MOVES or is_nearest


def operator_of_bytes(op: RuntimeOperator, quantize: RuntimeOperator, kinds: Sequence[np.dtype]) -> RuntimeOperator:
    """The operator in the place of ``op``, whose inputs come from DequantizeLinear; declines if there is none.

    Parameters
    ----------
    op : an operator on floats
    quantize : the QuantizeLinear behind it
    kinds : the types of the bytes of all its inputs, and of the output
    """
    inputs = [_scaled(operand.producer.inputs) for operand in op.inputs if operand.producer]
    out = _scaled([quantize.outputs[0], *quantize.inputs[1:]])
    decline_if(not inputs or len(inputs) < len(op.inputs))
    if op.type == "torch.matmul":
        decline_if(len(inputs) != 2)
        return _in_order(op, "QLinearMatMul", [*inputs[0], *inputs[1], out.scale, out.zero])
    decline_if(len(set(kinds)) > 1)
    if is_product(op):
        return _by_name(op, "QLinearMul", {"A": inputs[0], "B": inputs[1]}, "C", out)
    if op.type == "torch.cat" and op.has_param("dim"):
        values = [operand for one in inputs for operand in one]
        return _in_order(op, "QLinearConcat", [out.scale, out.zero, *values], axis=op.int_param("dim"))
    if op.type in ("F.adaptive_avg_pool2d", "nn.AdaptiveAvgPool2d") and set(op.ints_param("output_size")) == {1}:
        return _by_name(op, "QLinearGlobalAveragePool", {"X": inputs[0]}, "y", out, prefix="x")
    raise Declined


def _scaled(operands: Sequence[RuntimeOperand]) -> _Scaled:
    """What DequantizeLinear reads, or QuantizeLinear makes; declines without a zero point."""
    decline_if(len(operands) != 3)
    return _Scaled(*operands)


def _in_order(op: RuntimeOperator, kind: str, inputs: list[RuntimeOperand], **params: int) -> RuntimeOperator:
    """An operator that knows its inputs by their order."""
    return _made(op, kind, inputs, [""] * len(inputs), params)


def _by_name(
    op: RuntimeOperator, kind: str, inputs: dict[str, _Scaled], output: str, out: _Scaled, prefix: str = ""
) -> RuntimeOperator:
    """An operator that knows its inputs by their names."""
    operands = [operand for one in inputs.values() for operand in one]
    names = [f"{name if end == '' else prefix or name}{end}" for name in inputs for end in _ENDS]
    scale, zero = (f"{output}{end}" for end in _ENDS[1:])
    return _made(op, kind, [*operands, out.scale, out.zero], [*names, scale, zero], {})


def _made(
    op: RuntimeOperator, kind: str, inputs: list[RuntimeOperand], names: list[str], params: dict[str, Any]
) -> RuntimeOperator:
    return replace(op, type=kind, inputs=inputs, input_names=names, params=parameters(**params), attrs={}, layer=None)
