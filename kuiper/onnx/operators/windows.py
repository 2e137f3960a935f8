"""Where the windows of convolutions and pools stand, and borders that torch's layers do not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.errors import ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

SETTINGS = ("strides", "dilations", "pads")


@dataclass(frozen=True)
class Window:
    """Kernel, strides and dilations; borders in front and behind are None where they follow from open sizes."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int] | None
    after: list[int] | None
    is_upper: bool = False

    @property
    def is_even(self) -> bool:
        """Whether the borders are known, and the same at both ends."""
        return self.before is not None and self.before == self.after

    @property
    def spans(self) -> list[int]:
        """The distance from the first to the last tap, both included."""
        return [dilation * (size - 1) + 1 for size, dilation in zip(self.kernel, self.dilations, strict=True)]


def read_window(node: Node, x: Value, kernel: Sequence[int]) -> Window:
    """The window of a node for an input of this shape.

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
    strides, dilations = node.ints("strides", [1] * axes), node.ints("dilations", [1] * axes)
    pads, auto_pad = node.ints("pads", [0] * (2 * axes)), node.str("auto_pad", "NOTSET")
    if not len(strides) == len(dilations) == axes or len(pads) != 2 * axes:
        raise ParameterError(node.where, f"settings for {axes} axes", f"{strides}, {dilations}, {pads}")
    if min([*kernel, *strides, *dilations, 1]) < 1 or min([*pads, 0]) < 0:
        raise ParameterError(node.where, "sizes of at least 1", f"{list(kernel)}, {strides}, {dilations}, {pads}")
    if auto_pad == "NOTSET":
        return Window(list(kernel), strides, dilations, pads[:axes], pads[axes:])
    if auto_pad == "VALID":
        return Window(list(kernel), strides, dilations, [0] * axes, [0] * axes)
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise ParameterError(node.where, "auto_pad NOTSET, SAME_UPPER, SAME_LOWER or VALID", auto_pad)
    window = Window(list(kernel), strides, dilations, None, None, auto_pad == "SAME_UPPER")
    sizes = (x.shape or (None,) * (axes + 2))[2:]
    totals = []
    for size, stride, span in zip(sizes, strides, window.spans, strict=True):
        if stride == 1:
            totals.append(span - 1)
        elif isinstance(size, int):
            totals.append(max((size - 1) // stride * stride + span - size, 0))
        else:
            return window
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    before, after = (less, more) if window.is_upper else (more, less)
    return Window(list(kernel), strides, dilations, before, after)


def padded(build: GraphBuilder, x: Value, window: Window, value: float = 0.0) -> Value:
    """The input with the window's borders, which a last axis begins; those of open sizes are computed in the run."""
    params = {"mode": "constant", "value": value}
    if window.before is not None and window.after is not None:
        pairs = zip(reversed(window.before), reversed(window.after), strict=True)
        return build.op("F.pad", x, params={"pad": [amount for pair in pairs for amount in pair], **params})
    amounts = []
    for axis in reversed(range(len(window.kernel))):
        size, stride, span = f"size(@0,{axis + 2})", window.strides[axis], window.spans[axis]
        total = f"maximum(sub(add(mul(floor_divide(sub({size},1),{stride}),{stride}),{span}),{size}),0)"
        less, more = f"floor_divide({total},2)", f"floor_divide(add({total},1),2)"
        amounts += [less, more] if window.is_upper else [more, less]
    computed = build.op("pnnx.Expression", x, params={"expr": f"[{','.join(amounts)}]"}, type=7)
    return build.op("F.pad", x, computed, names=["", "pad"], params=params, type=x.type)


def own_settings(node: Node, *more: str) -> dict[str, Any]:
    """The settings that ONNX's own layer reads, as they stand in the file."""
    keys = (*SETTINGS, "auto_pad", *more)
    return {key: node.attributes[key] for key in keys if key in node.attributes}
