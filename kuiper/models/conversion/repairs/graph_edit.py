"""Operators in the place of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.pnnx import DataType, Operand, Operator, Parameter, ParameterType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.pnnx import Graph


def substitute(graph: Graph, old: Operator, new: Sequence[Operator]) -> None:
    """Put operators in the place of one; the last has its outputs, those before it make operands of their own.

    Parameters
    ----------
    graph : is changed
    old : one of its operators
    new : in the order in which they run
    """
    place = graph.operators.index(old)
    graph.operators[place : place + 1] = new
    for operand in dict.fromkeys(old.inputs):
        operand.consumers = [op for op in operand.consumers if op is not old]
    for op in new:
        for operand in dict.fromkeys(op.inputs):
            operand.consumers.append(op)
        for operand in op.outputs:
            operand.producer = op
    first = graph.operands.index(old.outputs[0])
    graph.operands[first:first] = [operand for op in new[:-1] for operand in op.outputs]


def made(kind: str, name: str, inputs: Sequence[Operand], **params: str) -> Operator:
    """A new operator with one output of the same name, and parameters that are text."""
    op = Operator(kind, name, list(inputs), [Operand(name)], [""] * len(inputs))
    op.params = {key: Parameter(ParameterType.STRING, value, value) for key, value in params.items()}
    op.outputs[0].producer = op
    if kind == "Tensor.to":
        op.input_names, op.outputs[0].shape, op.outputs[0].type = ["input"], inputs[0].shape, DataType.F32
    return op
