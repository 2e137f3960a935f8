"""From the nouns of a file to runtime objects: ``RuntimeGraph.init`` in one function per noun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx import DataType
from kuiper.graph.runtime_operator import RuntimeAttribute, RuntimeOperand, RuntimeOperator, RuntimeParameter

if TYPE_CHECKING:
    from kuiper.graph import pnnx


def runtime_operators(graph: pnnx.Graph, name: str) -> tuple[list[RuntimeOperator], list[RuntimeOperand]]:
    """The runtime operators of a graph in the order of the file, and all operands by index.

    Producer and consumers share one RuntimeOperand: that is the whole wiring.
    """
    operands = {
        operand: RuntimeOperand(operand.name, index, operand.shape, operand.type)
        for index, operand in enumerate(graph.operands)
    }
    operators = []
    for op in graph.operators:
        runtime = RuntimeOperator(
            op.type,
            op.name,
            inputs=[operands[operand] for operand in op.inputs],
            outputs=[operands[operand] for operand in op.outputs],
            input_names=list(op.input_names),
            params=runtime_params(op),
            attrs=runtime_attrs(op, name),
        )
        for operand in runtime.outputs:
            operand.producer = runtime
        for operand in dict.fromkeys(runtime.inputs):
            operand.consumers.append(runtime)
        operators.append(runtime)
    return operators, list(operands.values())


def runtime_params(op: pnnx.Operator) -> dict[str, RuntimeParameter]:
    """The settings of an operator, without their spelling in the file."""
    return {key: RuntimeParameter(param.type, param.value) for key, param in op.params.items()}


def runtime_attrs(op: pnnx.Operator, name: str) -> dict[str, RuntimeAttribute]:
    """The weights of an operator; bfloat16, which NumPy lacks, is widened to float32.

    Raises
    ------
    ModelFormatError
        If the graph was read without its weights.
    """
    attrs = {}
    for key, attr in op.attrs.items():
        if attr.data is None:
            raise ModelFormatError(name, f"the weight '{op.name}.{key}'", "a graph that was read without its .bin")
        data = attr.data
        if attr.type is DataType.BF16:
            data = (data.astype(np.uint32) << 16).view(np.float32)
        attrs[key] = RuntimeAttribute(attr.type, attr.shape, data)
    return attrs
