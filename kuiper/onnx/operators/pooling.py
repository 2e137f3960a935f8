"""Pools: torch's layers where the numbers are float32, and ONNX's own for what torch does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import ShapeError
from kuiper.onnx.element_types import INT64
from kuiper.onnx.operators.windows import own_settings, padded, padded_in_the_run, read_window
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.layers.window import Window
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_SETTINGS = ("kernel_shape", "ceil_mode")
_GLOBAL = {"GlobalAveragePool": "torch.mean", "GlobalMaxPool": "torch.amax"}


@operator("MaxPool")
def max_pool(node: Node, build: GraphBuilder) -> Value | tuple[Value, ...]:
    """torch's layer pads with what never wins; where the file pads unevenly, a layer in front does so."""
    x, kernel = node.value(0), node.ints("kernel_shape")
    settings, window = read_window(node, x, kernel)
    if node.wants(1):
        params = own_settings(node, *_SETTINGS, "storage_order")
        values, indices = build.ops("MaxPool", x, outputs=2, params=params)
        indices.type = INT64
        return values, indices
    is_own = not x.is_float32 or len(kernel) > 3
    if is_own or (settings.written.ceil_mode and not (window and window.is_even)):
        return build.op("MaxPool", x, params=own_settings(node, *_SETTINGS))
    if window is None:
        x, window = padded_in_the_run(build, x, settings, float("-inf")), settings.written.bare
    elif not _fits_torch(window):
        x, window = padded(build, x, window, float("-inf")), window.bare
    return _torch_pool(build, "F.max_pool", x, window, dilation=window.dilation)


@operator("AveragePool")
def average_pool(node: Node, build: GraphBuilder) -> Value:
    """torch's layer divides as ONNX does, but for borders of different widths."""
    x, kernel = node.value(0), node.ints("kernel_shape")
    settings, window = read_window(node, x, kernel)
    counts_pad = bool(node.int("count_include_pad", 0))
    if x.is_float32 and len(kernel) <= 3 and set(settings.written.dilation) <= {1}:
        if window is not None and _fits_torch(window):
            return _torch_pool(build, "F.avg_pool", x, window, count_include_pad=counts_pad)
        if counts_pad and not settings.written.ceil_mode:
            x = padded_in_the_run(build, x, settings) if window is None else padded(build, x, window)
            return _torch_pool(build, "F.avg_pool", x, settings.written.bare, count_include_pad=True)
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
    return window.is_even and all(
        size <= kernel // 2 for size, kernel in zip(window.before, window.kernel, strict=True)
    )


def _torch_pool(build: GraphBuilder, word: str, x: Value, window: Window, **params: Any) -> Value:
    """A pool of sequences, images or volumes."""
    params |= {"kernel_size": window.kernel, "stride": window.stride, "padding": window.before}
    return build.op(f"{word}{len(window.kernel)}d", x, params={**params, "ceil_mode": window.ceil_mode})
