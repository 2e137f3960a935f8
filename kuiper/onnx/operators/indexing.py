"""Entries by index, and where entries are: GatherElements, ScatterND, OneHot, TopK, ArgMax, NonMaxSuppression, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.onnx.element_types import INT64
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_SETTINGS: dict[str, dict[str, Any]] = {
    "Scatter": {"axis": 0},
    "ScatterElements": {"axis": 0, "reduction": "none"},
    "ScatterND": {"reduction": "none"},
    "GatherND": {"batch_dims": 0},
    "TensorScatter": {"axis": -2, "mode": "linear"},
    "CumSum": {"exclusive": 0, "reverse": 0},
    "CumProd": {"exclusive": 0, "reverse": 0},
}
"""The operators whose layers read the same settings, whose defaults these are, and all inputs."""


@operator(*_SETTINGS)
def as_it_is(node: Node, build: GraphBuilder) -> Value:
    """The layer of the same name; the result has the type of the first input."""
    params = {name: node.get(name, default) for name, default in _SETTINGS[node.type].items()}
    kind = "ScatterElements" if node.type == "Scatter" else node.type
    return build.op(kind, *node.values(), params=params)


@operator("GatherElements")
def gather_elements(node: Node, build: GraphBuilder) -> Value:
    """torch.gather, but that an index may count from the end."""
    params = {"dim": node.int("axis", 0), "from_end": True}
    return build.op("torch.gather", node.value(0), node.value(1), names=["", "index"], params=params)


@operator("OneHot")
def one_hot(node: Node, build: GraphBuilder) -> Value:
    params = {"axis": node.int("axis", -1)}
    return build.op("OneHot", node.value(0), node.value(1), node.value(2), params=params, type=node.value(2).type)


@operator("NonZero")
def non_zero(node: Node, build: GraphBuilder) -> Value:
    return build.op("NonZero", node.value(0), type=INT64)


@operator("TopK")
def top_k(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """The largest entries and their places; how many may be computed."""
    count = node.integers(1, "k")
    params: dict[str, Any] = {"dim": node.int("axis", -1), "largest": bool(node.int("largest", 1))}
    inputs = [node.value(0)]
    if count is None:
        inputs.append(node.value(1))
    elif len(count) == 1:
        params["k"] = count[0]
    else:
        raise node.unsupported("one number k", count)
    names = ["", "k"][: len(inputs)]
    values, places = build.ops("torch.topk", *inputs, outputs=2, names=names, params=params)
    places.type = INT64
    return values, places


@operator("ArgMax", "ArgMin")
def arg_max(node: Node, build: GraphBuilder) -> Value:
    """torch.argmax, unless the last of equals is wanted."""
    axis, keeps = node.int("axis", 0), bool(node.int("keepdims", 1))
    if node.int("select_last_index", 0):
        params = {"axis": axis, "keepdims": keeps, "select_last_index": True}
        return build.op(node.type, node.value(0), params=params, type=INT64)
    return build.op(f"torch.{node.type.lower()}", node.value(0), params={"dim": axis, "keepdim": keeps}, type=INT64)


@operator("Unique")
def unique(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """The entries each once, and three vectors of integers about them."""
    params = {"sorted": bool(node.int("sorted", 1)), "axis": node.get("axis")}
    found = build.ops("Unique", node.value(0), outputs=4, params=params)
    for value in found[1:]:
        value.type = INT64
    return found


@operator("NonMaxSuppression")
def non_max_suppression(node: Node, build: GraphBuilder) -> Value:
    """Limits that the file leaves out are those that limit nothing, but that of how many boxes, which is 0."""
    limits = [node.optional(place) for place in (2, 3, 4)]
    while limits and limits[-1] is None:
        limits.pop()
    defaults = (build.sizes(0), build.constant([0.0], 1), None)
    given = [value or default for value, default in zip(limits, defaults, strict=False)]
    params = {"center_point_box": bool(node.int("center_point_box", 0))}
    inputs = [node.value(0), node.value(1), *(value for value in given if value is not None)]
    return build.op("NonMaxSuppression", *inputs, params=params, type=INT64)


@operator("Col2Im")
def col2im(node: Node, build: GraphBuilder) -> Value:
    params = {name: node.ints(name) for name in ("strides", "dilations", "pads") if name in node.attributes}
    return build.op("Col2Im", node.value(0), node.value(1), node.value(2), params=params)
