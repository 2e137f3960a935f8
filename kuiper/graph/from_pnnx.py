"""From the dataclasses of a file to runtime objects: what ``RuntimeGraph.init`` does, one function for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx import DataType
from kuiper.graph.quantized_weight import SCALES, QuantizedAttribute, quantized_weight
from kuiper.graph.runtime_attribute import RuntimeAttribute
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator, RuntimeParameter

if TYPE_CHECKING:
    from kuiper.graph import pnnx
    from kuiper.graph.runtime_attribute import AnyAttribute

    Shared = dict[tuple[int, DataType], RuntimeAttribute]


def runtime_operators(graph: pnnx.Graph, name: str) -> tuple[list[RuntimeOperator], list[RuntimeOperand]]:
    """The runtime operators of a graph in the order of the file, and all operands by index.

    Producer and consumers share one RuntimeOperand: that is the whole wiring.
    """
    operands = {
        operand: RuntimeOperand(operand.name, index, operand.shape, operand.type)
        for index, operand in enumerate(graph.operands)
    }
    operators = []
    shared: Shared = {}
    for op in graph.operators:
        data = [
            (operand, key)
            for position, (operand, key) in enumerate(zip(op.inputs, op.input_names, strict=True))
            if not _is_own(op, position)
        ]
        runtime = RuntimeOperator(
            op.type,
            op.name,
            inputs=[operands[operand] for operand, _ in data],
            outputs=[operands[operand] for operand in op.outputs],
            input_names=[key for _, key in data],
            params={key: RuntimeParameter(param.type, param.value) for key, param in op.params.items()},
            attrs=runtime_attrs(op, name, shared),
            graphs=op.graphs,
        )
        for operand in runtime.outputs:
            operand.producer = runtime
        for operand in dict.fromkeys(runtime.inputs):
            operand.consumers.append(runtime)
        operators.append(runtime)
    return operators, list(operands.values())


def _is_own(op: pnnx.Operator, position: int) -> bool:
    """Whether this input is one of the operator's own weights.

    Of modules that share weights PNNX writes each weight twice: as attributes of each module, and once more as a
    pnnx.Attribute that is an input of each of them, without a name, in front of the data.
    """
    is_data = op.input_names[position] or position == len(op.inputs) - 1
    producer = op.inputs[position].producer
    if is_data or producer is None or producer.type != "pnnx.Attribute" or "data" not in producer.attrs:
        return False
    weight = producer.attrs["data"].data
    return weight is not None and any(
        own.data is not None and own.data.shape == weight.shape and np.array_equal(own.data, weight)
        for own in op.attrs.values()
    )


def runtime_attrs(op: pnnx.Operator, name: str, shared: Shared) -> dict[str, AnyAttribute]:
    """The weights of an operator; bfloat16, which NumPy lacks, is widened to float32.

    A weight and its scales become one quantised weight. ``shared`` has the weights so far by the identity and the type
    of their arrays: operators that share an array, as graphs made in code do, share the weight.

    Raises
    ------
    ModelFormatError
        If the graph was read without its weights, or scales do not fit their weight.
    """
    attrs: dict[str, AnyAttribute] = {}
    for key, attr in op.attrs.items():
        if attr.data is None:
            raise ModelFormatError(name, f"the weight '{op.name}.{key}'", "a graph that was read without its .bin")
        if (id(attr.data), attr.type) not in shared:
            is_half = attr.type is DataType.BF16
            data = (attr.data.astype(np.uint32) << 16).view(np.float32) if is_half else attr.data
            shared[id(attr.data), attr.type] = RuntimeAttribute(attr.type, attr.shape, data)
        attrs[key] = shared[id(attr.data), attr.type]
    for key in [key for key in attrs if key + SCALES in attrs]:
        scales = attrs.pop(key + SCALES).data
        attrs[key] = QuantizedAttribute(quantized_weight(attrs[key].data, scales, f"{name}: '{op.name}.{key}'"))
    return attrs
