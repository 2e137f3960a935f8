"""Where the windows of convolutions and pools stand, and borders that torch's layers do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import ShapeError
from kuiper.layers.onnx_window import checked_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.layers.onnx_window import OnnxWindow
    from kuiper.layers.window import Window
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

SETTINGS = ("strides", "dilations", "pads")


def read_window(node: Node, x: Value, kernel: Sequence[int]) -> tuple[OnnxWindow, Window | None]:
    """The window of a node, and where it stands on this input: None if that follows from sizes that are open.

    Raises
    ------
    ShapeError
        If the input has another number of axes.
    ParameterError
        If a setting has another length, or a number out of range.
    """
    axes = len(kernel)
    if x.rank is not None and x.rank != axes + 2:
        raise ShapeError(node.where, f"input with {axes + 2} axes", x.shape)
    strides, dilations = (tuple(node.ints(key, [1] * axes)) for key in ("strides", "dilations"))
    pads, auto_pad = tuple(node.ints("pads", [0] * (2 * axes))), node.str("auto_pad", "NOTSET")
    ceil_mode = bool(node.int("ceil_mode", 0))
    window = checked_window(node.where, tuple(kernel), strides, dilations, pads, auto_pad, ceil_mode)
    sizes = (x.shape or (None,) * (axes + 2))[2:]
    if not window.is_placed_by(sizes):
        return window, None
    return window, window.placed(tuple(size if isinstance(size, int) else 1 for size in sizes))


def padded(build: GraphBuilder, x: Value, window: Window, value: float = 0.0) -> Value:
    """The input with the window's borders, which a last axis begins."""
    pairs = zip(reversed(window.before), reversed(window.after), strict=True)
    params = {"pad": [amount for pair in pairs for amount in pair], "mode": "constant", "value": value}
    return build.op("F.pad", x, params=params)


def padded_in_the_run(build: GraphBuilder, x: Value, window: OnnxWindow, value: float = 0.0) -> Value:
    """The input with the borders of SAME, which the graph computes from the sizes of the input."""
    amounts = []
    for axis in reversed(range(len(window.written.kernel))):
        size, stride, span = f"size(@0,{axis + 2})", window.written.stride[axis], window.written.span[axis]
        total = f"maximum(sub(add(mul(floor_divide(sub({size},1),{stride}),{stride}),{span}),{size}),0)"
        less, more = f"floor_divide({total},2)", f"floor_divide(add({total},1),2)"
        amounts += [less, more] if window.auto_pad == "SAME_UPPER" else [more, less]
    computed = build.op("pnnx.Expression", x, params={"expr": f"[{','.join(amounts)}]"}, type=7)
    return build.op("F.pad", x, computed, names=["", "pad"], params={"mode": "constant", "value": value}, type=x.type)


def own_settings(node: Node, *more: str) -> dict[str, Any]:
    """The settings that ONNX's own layer reads, as they stand in the file."""
    keys = (*SETTINGS, "auto_pad", *more)
    return {key: node.attributes[key] for key in keys if key in node.attributes}
