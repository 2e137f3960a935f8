"""Reductions: by torch's operators where these keep the type and the axes are known, else by ONNX's own layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.onnx.element_types import FLOATS, INT64
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_IN_TORCH: dict[str, tuple[str, dict[str, Any]]] = {
    "ReduceSum": ("torch.sum", {}),
    "ReduceMean": ("torch.mean", {}),
    "ReduceProd": ("torch.prod", {}),
    "ReduceMax": ("torch.amax", {}),
    "ReduceMin": ("torch.amin", {}),
    "ReduceL1": ("torch.norm", {"p": 1.0}),
    "ReduceL2": ("torch.norm", {"p": 2.0}),
    "ReduceLogSum": ("torch.sum", {}),
    "ReduceLogSumExp": ("torch.logsumexp", {}),
    "ReduceSumSquare": ("torch.sum", {}),
}
_NEED_ENTRIES = ("ReduceMax", "ReduceMin", "ReduceLogSumExp")
"""What torch refuses to reduce nothing to."""


@operator(*_IN_TORCH)
def reduction(node: Node, build: GraphBuilder) -> Value:
    """One number for all entries along axes: a setting, an input, or none, which means all."""
    value, axes = node.value(0), node.integers(1, "axes")
    keeps, nothing = bool(node.int("keepdims", 1)), bool(node.int("noop_with_empty_axes", 0))
    settings = {"keepdims": keeps, "noop_with_empty_axes": nothing}
    if axes is None and node.optional(1) is not None:
        return build.op(node.type, value, node.value(1), params=settings)
    axes = axes or []
    if (nothing and not axes) or not _torch_can(node.type, value):
        return build.op(node.type, value, params={**settings, "axes": axes})
    kind, more = _IN_TORCH[node.type]
    params = {"dim": axes, "keepdim": keeps, **more} if axes else {"keepdim": keeps, **more}
    if node.type == "ReduceSumSquare":
        value = build.expression("mul(@0,@0)", value)
    result = build.op(kind, value, params=params)
    return build.expression("log(@0)", result) if node.type == "ReduceLogSum" else result


def _torch_can(kind: str, value: Value) -> bool:
    """Whether torch's operator gives the same: of this type, and of an input that surely has entries."""
    if kind in _NEED_ENTRIES and 0 in (value.known_shape or (0,)):
        return False
    if kind in ("ReduceMax", "ReduceMin"):
        return True
    return value.type in FLOATS or (value.type == INT64 and kind in ("ReduceSum", "ReduceProd"))
