"""Numbers as steps of a scale, and products of steps: one layer for each operator, of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.onnx.element_types import BY_NAME, FLOAT, HALVES, INT32, UINT8, element_type
from kuiper.onnx.operators.windows import own_settings
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_STEPS = ("uint8", "int8", "uint16", "int16", "uint4", "int4", "uint2", "int2", "float4e2m1")
_TYPES = {BY_NAME[name] for name in _STEPS} | {code for name, code in BY_NAME.items() if name.startswith("float8e")}


@operator("QuantizeLinear")
def quantize_linear(node: Node, build: GraphBuilder) -> Value:
    """The type of the steps is that of the zero point, or a setting."""
    zero = node.optional(2)
    code = zero.type if zero is not None else node.int("output_dtype", 0) or UINT8
    if code not in _TYPES:
        raise node.unsupported(f"steps of {', '.join(_STEPS)} or float8", element_type(code, node.where).name)
    precision = node.int("precision", 0) or node.value(1).type
    if precision not in (FLOAT, *HALVES, BY_NAME["double"]):
        precision = FLOAT
    params = _scaling(node) | {
        "to": element_type(code, node.where).name,
        "precision": element_type(precision, node.where).name,
        "saturate": bool(node.int("saturate", 1)),
    }
    return build.op("QuantizeLinear", *_with_zero(node), params=params, type=code, shape=node.value(0).shape)


@operator("DequantizeLinear")
def dequantize_linear(node: Node, build: GraphBuilder) -> Value:
    """The numbers are as wide as the arithmetic, float32, whatever small float the file wants."""
    code = node.int("output_dtype", 0) or node.value(1).type
    if element_type(code, node.where).inside != np.float32:
        raise node.unsupported("an output of float, float16 or bfloat16", element_type(code, node.where).name)
    return build.op("DequantizeLinear", *_with_zero(node), params=_scaling(node), type=code, shape=node.value(0).shape)


def _with_zero(node: Node) -> list[Value]:
    """Input, scales and, if they are there, zero points."""
    return [node.value(0), node.value(1), *([zero] if (zero := node.optional(2)) else [])]


def _scaling(node: Node) -> dict[str, Any]:
    return {"axis": node.int("axis", 1), "block_size": node.int("block_size", 0)}


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """Steps, scale and zero point."""
    steps, scale, zero = build.ops("DynamicQuantizeLinear", node.value(0), outputs=3)
    steps.type, scale.type, zero.type = UINT8, FLOAT, UINT8
    return steps, scale, zero


@operator("MatMulInteger", "ConvInteger")
def of_integers(node: Node, build: GraphBuilder) -> Value:
    """Two tensors of steps and their zero points; one that the file leaves out is 0."""
    inputs = [node.value(0), node.value(1)]
    zeros = [node.optional(2), node.optional(3)]
    for value, zero in zip(inputs[:2], zeros, strict=True):
        inputs.append(zero or build.constant(np.zeros((), np.int8), value.type))
    params = own_settings(node, "group") if node.type == "ConvInteger" else {}
    return build.op(node.type, *inputs, params=params, type=INT32)


@operator("QLinearMatMul", "QLinearConv")
def of_steps(node: Node, build: GraphBuilder) -> Value:
    """Steps to steps; all inputs but the bias must be there."""
    inputs = [node.value(place) for place in range(8)]
    if node.type == "QLinearConv" and (bias := node.optional(8)):
        inputs.append(bias)
    if any(inputs[place].type not in (UINT8, BY_NAME["int8"]) for place in (0, 3, 7)):
        raise node.unsupported("steps of int8 or uint8", [inputs[place].type for place in (0, 3, 7)])
    params = own_settings(node, "group") if node.type == "QLinearConv" else {}
    return build.op(node.type, *inputs, params=params, type=inputs[7].type)
