"""Make one operator of the seven that spell a layer norm out.

    before   x -+-> sub(@0,@1) -+------------------------------------------------> div(@0,@1) -> mul -> add -> y
                '-> mean --^    '-> pow(@0,2) -> mean -> add(@0,eps) -> sqrt(@0) ----^
    after    x -> nn.LayerNorm -> y

That is how exporters to ONNX write a layer norm before opset 17. Its weight and bias are taken in if they are constants
of the last axis.

Left alone: means along another axis than the last, and what someone else reads on the way.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.rewiring import constant_of, expression_of, recognised, sole_reader
from kuiper.graph.pnnx.ir import DataType
from kuiper.graph.runtime_attribute import attribute_of
from kuiper.graph.runtime_operator import parameters

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

_EPS = re.compile(r"add\(@0,([0-9.e+-]+)\)|add\(([0-9.e+-]+),@0\)")
_SQUARES = ("pow(@0,2)", "pow(@0,2.0)", "square(@0)", "mul(@0,@0)", "mul(@0,@1)")
_DIFFERENCE, _ROOT, _QUOTIENTS = "sub(@0,@1)", "sqrt(@0)", ("div(@0,@1)", "onnx_div(@0,@1)")
_MEANS = ("torch.mean", "Tensor.mean")


def recognise_layer_norm(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with nn.LayerNorm in the place of each that is spelled out."""
    types = ("pnnx.Expression", "nn.LayerNorm", *_MEANS)
    return recognised(operators, _layer_norm) if all(map(registry.is_built_in, types)) else operators


def _layer_norm(difference: RuntimeOperator) -> Merged:
    """The layer norm that begins with this difference, and the last operator that it stands for."""
    decline_if(not _is(difference, _DIFFERENCE) or len(difference.inputs) != 2)
    x, mean = difference.inputs
    size = found(x.shape or None)[-1]
    decline_if(x.type is not DataType.F32 or not isinstance(size, int) or not _is_mean(mean, x))
    readers = difference.outputs[0].consumers
    squares = [op for op in readers if _is(op, *_SQUARES) and set(op.inputs) == {difference.outputs[0]}]
    quotients = [op for op in readers if _is(op, *_QUOTIENTS) and op.inputs[0] is difference.outputs[0]]
    decline_if(len(readers) != 2 or len(squares) != 1 or len(quotients) != 1)
    variance = found(sole_reader(squares[0]))
    shifted = found(sole_reader(variance))
    match = found(_EPS.fullmatch(expression_of(shifted)))
    root = found(sole_reader(shifted))
    decline_if(not _is_mean(variance.outputs[0], squares[0].outputs[0]) or not _is(root, _ROOT))
    decline_if(sole_reader(root) is not quotients[0])
    weight, behind = _constant_behind(quotients[0], "mul", size)
    bias, end = _constant_behind(behind, "add", size) if weight is not None else (None, behind)
    if bias is None:
        weight, end = None, quotients[0]
    return _norm(difference, end, x, float(match[1] or match[2]), weight, bias), end


def _norm(
    first: RuntimeOperator,
    end: RuntimeOperator,
    x: RuntimeOperand,
    eps: float,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
) -> RuntimeOperator:
    """The operator."""
    assert x.shape is not None
    attrs = {} if weight is None or bias is None else {"weight": weight, "bias": bias}
    return replace(
        end,
        type="nn.LayerNorm",
        name=f"{first.name}+layernorm",
        inputs=[x],
        input_names=["input"],
        params=parameters(normalized_shape=[x.shape[-1]], eps=eps, elementwise_affine=bool(attrs)),  # type: ignore[list-item]
        attrs={key: attribute_of(data) for key, data in attrs.items()},
        layer=None,
        grown_from=first.where,
    )


def _constant_behind(op: RuntimeOperator, function: str, size: Dimension) -> tuple[np.ndarray | None, RuntimeOperator]:
    """The constant of the last axis by which the reader of ``op`` multiplies or which it adds, and that reader."""
    reader = sole_reader(op)
    if reader is None or not _is(reader, f"{function}(@0,@1)", f"{function}(@1,@0)") or len(reader.inputs) != 2:
        return None, op
    (other,) = (operand for operand in reader.inputs if operand is not op.outputs[0])
    constant = constant_of(other)
    fits = constant is not None and constant.dtype == np.float32 and constant.shape == (size,)
    return (constant, reader) if fits else (None, op)


def _is_mean(operand: RuntimeOperand, x: RuntimeOperand) -> bool:
    """Whether this is the mean of x along its last axis, which stays with a size of 1."""
    op = operand.producer
    if op is None or op.type not in _MEANS or op.inputs != [x] or not op.has_param("dim") or x.shape is None:
        return False
    axes = op.ints_param("dim")
    return op.bool_param("keepdim", False) and axes in ((-1,), (len(x.shape) - 1,))


def _is(op: RuntimeOperator, *texts: str) -> bool:
    return expression_of(op) in texts
