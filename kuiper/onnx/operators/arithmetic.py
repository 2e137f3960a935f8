"""Arithmetic: functions of one number, of two and of many, as expressions wherever the types allow it."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from kuiper.onnx.element_types import BOOL
from kuiper.onnx.operators.matrix import with_bias
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_OF_ONE = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Log": "log",
    "Neg": "neg",
    "Reciprocal": "reciprocal",
    "Round": "round",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
}
_OF_TWO = {"Add": "add", "Div": "div", "Mul": "mul", "Sub": "sub"}
_OF_MANY = {"Max": "maximum", "Mean": "add", "Min": "minimum", "Sum": "add"}


@operator(*_OF_ONE)
def function_of_one(node: Node, build: GraphBuilder) -> Value:
    return build.expression(f"{_OF_ONE[node.type]}(@0)", node.value(0))


@operator(*_OF_TWO)
def arithmetic(node: Node, build: GraphBuilder) -> Value:
    """Of integers a quotient is the whole part; a constant added to a linear layer's outputs is its bias."""
    x, y = node.value(0), node.value(1)
    word = _OF_TWO[node.type]
    if node.type == "Div" and x.dtype.kind in "iu":
        word = "trunc_divide"
    if node.type == "Add":
        for sum_, other in ((x, y), (y, x)):
            linear = with_bias(build, sum_, other)
            if linear is not None:
                return linear
    return build.expression(f"{word}(@0,@1)", x, y)


@operator(*_OF_MANY)
def function_of_many(node: Node, build: GraphBuilder) -> Value:
    """The largest, the smallest, the sum or the mean of any number of tensors, which broadcast."""
    values = [node.value(place) for place in range(max(1, len(node.inputs)))]
    word = _OF_MANY[node.type]
    text = reduce(lambda left, place: f"{word}({left},@{place})", range(1, len(values)), "@0")
    if node.type == "Mean" and len(values) > 1:
        text = f"div({text},{len(values)})"
    return values[0] if text == "@0" else build.expression(text, *values)


@operator("Pow")
def power(node: Node, build: GraphBuilder) -> Value:
    """The base's type is that of the result; the exponent may have another."""
    base, exponent = node.value(0), node.value(1)
    if base.dtype.kind == "f" and (_is_number(exponent) or exponent.dtype == base.dtype):
        return build.expression("pow(@0,@1)", base, exponent)
    return build.op("Pow", base, exponent, type=base.type)


@operator("Mod")
def remainder(node: Node, build: GraphBuilder) -> Value:
    """What is left of a division, with the sign of the divisor, or with ``fmod`` that of the number divided."""
    word = "fmod" if node.int("fmod", 0) else "remainder"
    return build.expression(f"{word}(@0,@1)", node.value(0), node.value(1))


@operator("Clip")
def clip(node: Node, build: GraphBuilder) -> Value:
    """Bounds are settings up to operator set 10, and inputs since."""
    x = node.value(0)
    if node.opset < 11:
        bounds = {"min": node.get("min"), "max": node.get("max")}
        params = {key: float(bound) for key, bound in bounds.items() if bound is not None}
        return build.op("torch.clamp", x, params=params) if params else x
    given = {"min": node.optional(1), "max": node.optional(2)}
    params, inputs, names = {}, [x], ["input"]
    for key, value in given.items():
        if value is None:
            continue
        if value.constant is not None and value.constant.size == 1:
            params[key] = value.constant.item()
        else:
            inputs.append(value)
            names.append(key)
    return build.op("torch.clamp", *inputs, names=names, params=params) if params or inputs[1:] else x


@operator("Dropout")
def dropout(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """Its input, and a mask of ones if somebody reads it; since operator set 12 a model may ask to drop numbers."""
    x, ratio, training = node.value(0), node.optional(1), node.optional(2)
    if training is not None and (training.constant is None or training.constant.any()):
        inputs = [x, ratio if ratio is not None else build.constant(np.float32(0.5)), training]
        y, mask = build.ops("Dropout", *inputs, outputs=2, params={"seed": node.int("seed", 0)})
        mask.type = BOOL
        return y, mask
    if not node.wants(1):
        return (x,)
    dtype = "torch.bool" if node.opset >= 10 else "torch.float"
    return x, build.op("torch.ones_like", x, params={"dtype": dtype}, type=node.output_types.get(node.outputs[1], BOOL))


def _is_number(value: Value) -> bool:
    """Whether it is a constant of one number, without axes."""
    return value.constant is not None and value.constant.shape == ()
