"""Comparisons, truth values, bits, and choices that depend on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.onnx.element_types import BOOL
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_RELATIONS = {
    "Equal": "torch.eq",
    "Greater": "torch.gt",
    "GreaterOrEqual": "torch.ge",
    "Less": "torch.lt",
    "LessOrEqual": "torch.le",
    "And": "torch.logical_and",
    "Or": "torch.logical_or",
    "Xor": "torch.logical_xor",
}
_BITS = {"BitwiseAnd": "and", "BitwiseOr": "or", "BitwiseXor": "xor"}
_SHIFTS = {"LEFT": "lshift", "RIGHT": "rshift"}


@operator(*_RELATIONS)
def relation(node: Node, build: GraphBuilder) -> Value:
    return build.op(_RELATIONS[node.type], node.value(0), node.value(1), names=["input", "other"], type=BOOL)


@operator("Not")
def negation(node: Node, build: GraphBuilder) -> Value:
    return build.op("torch.logical_not", node.value(0), type=BOOL)


@operator("IsNaN", "IsInf")
def not_finite(node: Node, build: GraphBuilder) -> Value:
    """NaN, or the infinities that ``detect_negative`` and ``detect_positive`` leave."""
    given = {key: bool(node.int(key, 1)) for key in ("detect_negative", "detect_positive")}
    return build.op(node.type, node.value(0), params=given if node.type == "IsInf" else {}, type=BOOL)


@operator(*_BITS)
def bits(node: Node, build: GraphBuilder) -> Value:
    return build.expression(f"{_BITS[node.type]}(@0,@1)", node.value(0), node.value(1))


@operator("BitwiseNot")
def bitwise_not(node: Node, build: GraphBuilder) -> Value:
    return build.op("torch.bitwise_not", node.value(0))


@operator("BitShift")
def shift(node: Node, build: GraphBuilder) -> Value:
    direction = node.str("direction")
    if direction not in _SHIFTS:
        raise node.unsupported("direction LEFT or RIGHT", direction)
    return build.expression(f"{_SHIFTS[direction]}(@0,@1)", node.value(0), node.value(1))


@operator("Where")
def where(node: Node, build: GraphBuilder) -> Value:
    condition, chosen, other = node.value(0), node.value(1), node.value(2)
    names = ["condition", "input", "other"]
    return build.op("torch.where", condition, chosen, other, names=names, type=chosen.type)
