"""Casts: the same numbers, or the same bits, in another element type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.onnx.element_types import (
    BFLOAT16,
    BOOL,
    BY_NAME,
    DOUBLE,
    ELEMENT_TYPES,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    element_type,
)
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_IN_TORCH = {
    FLOAT: "torch.float",
    DOUBLE: "torch.double",
    INT64: "torch.long",
    INT32: "torch.int",
    INT16: "torch.short",
    INT8: "torch.char",
    UINT8: "torch.uint8",
    BOOL: "torch.bool",
    BFLOAT16: "torch.bfloat16",
}
"""What Tensor.to calls a type."""

_FLOAT8 = tuple(BY_NAME[name] for name in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"))
_FLOAT4, _FLOAT8E8M0 = BY_NAME["float4e2m1"], BY_NAME["float8e8m0"]
_HOLDS = {
    FLOAT: (FLOAT16, BFLOAT16, *_FLOAT8, _FLOAT4, _FLOAT8E8M0),
    FLOAT16: (*_FLOAT8, _FLOAT4),
    BFLOAT16: (*_FLOAT8, _FLOAT4, _FLOAT8E8M0),
    INT8: (BY_NAME["int4"], BY_NAME["int2"]),
    BY_NAME["int4"]: (BY_NAME["int2"],),
    UINT8: (BY_NAME["uint4"], BY_NAME["uint2"]),
    BY_NAME["uint4"]: (BY_NAME["uint2"],),
}
"""The types whose numbers a type has, too, and which look the same inside the graph."""


@operator("Cast")
def cast(node: Node, build: GraphBuilder) -> Value:
    return as_type(node, build, node.value(0), node.int("to"))


@operator("CastLike")
def cast_like(node: Node, build: GraphBuilder) -> Value:
    """A cast to the type of the second input."""
    wanted = node.value(1).type or next(iter(node.output_types.values()), 0)
    return as_type(node, build, node.value(0), wanted)


@operator("BitCast")
def bit_cast(node: Node, build: GraphBuilder) -> Value:
    value, wanted = node.value(0), node.int("to")
    of, to = (element_type(code, node.where) for code in (value.type, wanted))
    return build.op("BitCast", value, params={"of": of.name, "to": to.name}, type=wanted, shape=value.shape)


def as_type(node: Node, build: GraphBuilder, value: Value, wanted: int) -> Value:
    """A value in another element type; the value itself if that changes no number."""
    to = element_type(wanted, node.where)
    if value.type in (wanted, *_HOLDS.get(wanted, ())):
        return replace(value, type=wanted)
    if wanted in _IN_TORCH:
        params = {"dtype": _IN_TORCH[wanted], "copy": False}
        result = build.op("Tensor.to", value, params=params, type=wanted, shape=value.shape)
    else:
        params = {"to": to.name, "saturate": bool(node.get("saturate", 1)), "round_mode": node.str("round_mode", "up")}
        result = build.op("Cast", value, params=params, type=wanted, shape=value.shape)
    if to.inside.kind == "i" and ELEMENT_TYPES[value.type].inside.kind == "i":
        result.sizes = value.sizes
    return result
