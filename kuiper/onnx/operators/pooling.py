"""Pools: torch's layers where the numbers are float32, and ONNX's own for what torch does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kuiper.errors import ShapeError
from kuiper.onnx.element_types import INT64
from kuiper.onnx.operators.windows import own_settings, padded, read_window
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value
    from kuiper.onnx.operators.windows import Window

_SETTINGS = ("kernel_shape", "ceil_mode")
_GLOBAL = {"GlobalAveragePool": "torch.mean", "GlobalMaxPool": "torch.amax"}


@operator("MaxPool")
def max_pool(node: Node, build: GraphBuilder) -> Value | tuple[Value, ...]:
    """torch's layer pads with what never wins; where the file pads unevenly, a layer in front does so."""
    x, kernel = node.value(0), node.ints("kernel_shape")
    window = read_window(node, x, kernel)
    if node.wants(1):
        params = own_settings(node, *_SETTINGS, "storage_order")
        values, indices = build.ops("MaxPool", x, outputs=2, params=params)
        indices.type = INT64
        return values, indices
    ceil_mode = bool(node.int("ceil_mode", 0))
    is_own = not x.is_float32 or len(kernel) > 3 or (ceil_mode and not window.is_even)
    if is_own:
        return build.op("MaxPool", x, params=own_settings(node, *_SETTINGS))
    if not _fits_torch(window):
        x = padded(build, x, window, float("-inf"))
        window = replace(window, before=[0] * len(kernel), after=[0] * len(kernel))
    return _torch_pool(build, "F.max_pool", x, window, ceil_mode, dilation=window.dilations)


@operator("AveragePool")
def average_pool(node: Node, build: GraphBuilder) -> Value:
    """torch's layer divides as ONNX does, but for borders of different widths."""
    x, kernel = node.value(0), node.ints("kernel_shape")
    window, ceil_mode = read_window(node, x, kernel), bool(node.int("ceil_mode", 0))
    counts_pad = bool(node.int("count_include_pad", 0))
    if x.is_float32 and len(kernel) <= 3 and set(window.dilations) <= {1}:
        if _fits_torch(window):
            return _torch_pool(build, "F.avg_pool", x, window, ceil_mode, count_include_pad=counts_pad)
        if counts_pad and not ceil_mode:
            x = padded(build, x, window)
            bare = replace(window, before=[0] * len(kernel), after=[0] * len(kernel))
            return _torch_pool(build, "F.avg_pool", x, bare, ceil_mode, count_include_pad=True)
    return build.op("AveragePool", x, params=own_settings(node, *_SETTINGS, "count_include_pad"))


@operator("LpPool")
def lp_pool(node: Node, build: GraphBuilder) -> Value:
    read_window(node, node.value(0), node.ints("kernel_shape"))
    return build.op("LpPool", node.value(0), params={"p": node.int("p", 2), **own_settings(node, *_SETTINGS)})


@operator(*_GLOBAL)
def global_pool(node: Node, build: GraphBuilder) -> Value:
    """The mean, or the largest number, over all axes behind (n, c)."""
    x = node.value(0)
    if x.rank is None:
        raise node.unsupported("an input whose number of axes is known", f"'{x.name}'")
    if x.rank < 2:
        raise ShapeError(node.where, "input (n, c, ...)", x.shape)
    if x.rank == 2:
        return x
    params = {"dim": list(range(2, x.rank)), "keepdim": True}
    if x.rank == 4 and x.is_float32 and node.type == "GlobalAveragePool":
        return build.op("F.adaptive_avg_pool2d", x, params={"output_size": [1, 1]})
    return build.op(_GLOBAL[node.type], x, params=params)


@operator("GlobalLpPool")
def global_lp_pool(node: Node, build: GraphBuilder) -> Value:
    return build.op("GlobalLpPool", node.value(0), params={"p": node.int("p", 2)})


@operator("MaxUnpool")
def max_unpool(node: Node, build: GraphBuilder) -> Value:
    return build.op("MaxUnpool", *node.values(), params=own_settings(node, "kernel_shape"))


@operator("MaxRoiPool")
def max_roi_pool(node: Node, build: GraphBuilder) -> Value:
    params = {"pooled_shape": node.ints("pooled_shape"), "spatial_scale": node.float("spatial_scale", 1.0)}
    return build.op("MaxRoiPool", node.value(0), node.value(1), params=params)


@operator("RoiAlign")
def roi_align(node: Node, build: GraphBuilder) -> Value:
    """Boxes are half a pixel off since operator set 16, unless the file says otherwise."""
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    params: dict[str, Any] = {
        "coordinate_transformation_mode": node.str("coordinate_transformation_mode", usual),
        "mode": node.str("mode", "avg"),
        "output_height": node.int("output_height", 1),
        "output_width": node.int("output_width", 1),
        "sampling_ratio": node.int("sampling_ratio", 0),
        "spatial_scale": node.float("spatial_scale", 1.0),
    }
    return build.op("RoiAlign", node.value(0), node.value(1), node.value(2), params=params)


def _fits_torch(window: Window) -> bool:
    """Whether torch's pools take the borders: the same at both ends, and at most half of the kernel."""
    halves = zip(window.before or (), window.kernel, strict=False)
    return window.is_even and all(size <= kernel // 2 for size, kernel in halves)


def _torch_pool(build: GraphBuilder, word: str, x: Value, window: Window, ceil_mode: bool, **params: Any) -> Value:
    """A pool of sequences, images or volumes."""
    assert window.before is not None
    params |= {"kernel_size": window.kernel, "stride": window.strides, "padding": window.before, "ceil_mode": ceil_mode}
    return build.op(f"{word}{len(window.kernel)}d", x, params=params)
