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


def operator_of_bytes(
    op: RuntimeOperator, quantize: RuntimeOperator, kinds: Sequence[np.dtype]
) -> RuntimeOperator | None:
    """The operator in the place of ``op``, whose inputs come from DequantizeLinear; None if there is none.

    Parameters
    ----------
    op : an operator on floats
    quantize : the QuantizeLinear behind it
    kinds : the types of the bytes of all its inputs, and of the output
    """
    inputs = [_scaled(operand.producer, operand.producer.inputs) for operand in op.inputs if operand.producer]
    out = _scaled(quantize, [quantize.outputs[0], *quantize.inputs[1:]])
    found = [one for one in inputs if one is not None]
    if out is None or not found or len(found) < len(op.inputs):
        return None
    if op.type == "torch.matmul":
        return _in_order(op, "QLinearMatMul", [*found[0], *found[1], out.scale, out.zero]) if len(found) == 2 else None
    if len(set(kinds)) > 1:
        return None
    if is_product(op):
        return _by_name(op, "QLinearMul", {"A": found[0], "B": found[1]}, "C", out)
    if op.type == "torch.cat" and op.has_param("dim"):
        values = [operand for one in found for operand in one]
        return _in_order(op, "QLinearConcat", [out.scale, out.zero, *values], axis=op.int_param("dim"))
    if op.type in ("F.adaptive_avg_pool2d", "nn.AdaptiveAvgPool2d") and set(op.ints_param("output_size")) == {1}:
        return _by_name(op, "QLinearGlobalAveragePool", {"X": found[0]}, "y", out, prefix="x")
    return None


def _scaled(op: RuntimeOperator | None, operands: Sequence[RuntimeOperand]) -> _Scaled | None:
    """What DequantizeLinear reads, or QuantizeLinear makes; None without a zero point."""
    return None if op is None or len(operands) != 3 else _Scaled(*operands)


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
