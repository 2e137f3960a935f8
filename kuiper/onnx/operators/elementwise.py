"""Functions of one number, and arithmetic of two: activations by their own names, the rest as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_EXPRESSIONS = {
    "Abs": "abs(@0)",
    "Add": "add(@0,@1)",
    "Div": "onnx_div(@0,@1)",
    "Exp": "exp(@0)",
    "Mul": "mul(@0,@1)",
    "Neg": "neg(@0)",
    "Sqrt": "sqrt(@0)",
    "Sub": "sub(@0,@1)",
}


@operator(*_EXPRESSIONS)
def expression(node: Node, build: GraphBuilder) -> Value:
    """One function of an expression."""
    return build.expression(_EXPRESSIONS[node.type], *node.values())


@operator("Relu")
def relu(node: Node, build: GraphBuilder) -> Value:
    return build.op("F.relu", node.value(0))
