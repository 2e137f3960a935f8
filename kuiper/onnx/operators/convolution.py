"""Convolutions: torch's layers where the numbers are float32, and ONNX's own for what torch does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError, ShapeError
from kuiper.onnx.operators.windows import own_settings, padded, padded_in_the_run, read_window
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    import numpy as np

    from kuiper.layers.window import Window
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

MAX_AXES = 3
"""torch convolves sequences, images and volumes."""


@operator("Conv")
def conv(node: Node, build: GraphBuilder) -> Value:
    x, weight, bias = node.value(0), node.value(1), node.optional(2)
    kernel = kernel_of(node, weight)
    if kernel is None or len(kernel) > MAX_AXES or not x.is_float32:
        return build.op("Conv", *inputs_of(node), params=own_settings(node, "group"))
    settings, window = read_window(node, x, kernel)
    if window is None:
        x, window = padded_in_the_run(build, x, settings), settings.written.bare
    elif len(kernel) == 3 and not window.is_even:
        x, window = padded(build, x, window), window.bare
    uneven = {} if window.is_even else {"padding_after": window.after}
    return torch_convolution(node, build, "onv", (x, weight, bias), window, **uneven)


@operator("ConvTranspose")
def conv_transpose(node: Node, build: GraphBuilder) -> Value:
    """torch's layer for even borders; what is cut off or added unevenly, or by open sizes, is left to ONNX's own."""
    x, weight, bias = node.value(0), node.value(1), node.optional(2)
    kernel = kernel_of(node, weight)
    axes = len(kernel or ())
    extra = node.ints("output_padding", [0] * axes)
    is_plain = "output_shape" not in node.attributes and node.str("auto_pad", "NOTSET") in ("NOTSET", "VALID")
    if kernel is None or axes > MAX_AXES or not x.is_float32 or not is_plain:
        return own_transpose(node, build)
    _, window = read_window(node, x, kernel)
    assert window is not None  # no open size decides where a window of its own padding stands
    if any(more >= max(step) for more, *step in zip(extra, window.stride, window.dilation, strict=True)):
        return own_transpose(node, build)
    if window.is_even or axes < 3:
        uneven = {} if window.is_even else {"padding_after": window.after}
        return torch_convolution(node, build, "onvTranspose", (x, weight, bias), window, output_padding=extra, **uneven)
    full = torch_convolution(node, build, "onvTranspose", (x, weight, bias), window.bare, output_padding=extra)
    cut = replace(window, before=tuple(-size for size in window.before), after=tuple(-size for size in window.after))
    return padded(build, full, cut)


def own_transpose(node: Node, build: GraphBuilder) -> Value:
    """ONNX's own layer."""
    params = own_settings(node, "group", "output_padding", "output_shape")
    return build.op("ConvTranspose", *inputs_of(node), params=params)


@operator("DeformConv")
def deform_conv(node: Node, build: GraphBuilder) -> Value:
    """ONNX's own layer: a convolution whose taps the graph moves."""
    names = ["X", "W", "offset", "B", "mask"]
    given = [(name, value) for name, value in zip(names, node.inputs, strict=False) if value is not None]
    params = own_settings(node, "group", "offset_group")
    return build.op("DeformConv", *(value for _, value in given), names=[name for name, _ in given], params=params)


def torch_convolution(
    node: Node,
    build: GraphBuilder,
    word: str,
    values: tuple[Value, Value, Value | None],
    window: Window,
    **params: Any,
) -> Value:
    """nn.Conv2d and its kin for constant weights, F.conv2d for weights that the graph computes."""
    x, weight, bias = values
    group, axes = node.int("group", 1), len(window.kernel)
    params |= {"stride": window.stride, "dilation": window.dilation, "groups": group, "padding": window.before}
    if weight.constant is None or (bias is not None and bias.constant is None):
        functional = f"F.c{word.replace('T', '_t')}{axes}d"
        return build.op(functional, *(value for value in values if value is not None), params=params)
    array = weight.constant
    out, into = (array.shape[1] * group, array.shape[0]) if "T" in word else (array.shape[0], array.shape[1] * group)
    sizes = {"in_channels": into, "out_channels": out, "kernel_size": window.kernel, "bias": bias is not None}
    attrs: dict[str, np.ndarray] = {"weight": array}
    if bias is not None and bias.constant is not None:
        attrs["bias"] = bias.constant
    return build.op(f"nn.C{word}{axes}d", x, params={**sizes, **params}, attrs=attrs)


def kernel_of(node: Node, weight: Value) -> list[int] | None:
    """The sizes of the kernel, if they are known when the model is loaded.

    Raises
    ------
    ShapeError
        If the weight has less than three axes.
    ModelFormatError
        If the file gives a kernel_shape that is not the weight's.
    """
    if weight.rank is not None and weight.rank < 3:
        raise ShapeError(node.where, "a weight with at least 3 axes", weight.shape)
    sizes = None if weight.shape is None else weight.shape[2:]
    if sizes is None or not all(isinstance(size, int) for size in sizes):
        return node.ints("kernel_shape") if "kernel_shape" in node.attributes else None
    kernel = [size for size in sizes if isinstance(size, int)]
    if node.get("kernel_shape", kernel) != kernel:
        raise ModelFormatError(node.where, f"kernel_shape={kernel}, as the weight has it", node.get("kernel_shape"))
    return kernel


def inputs_of(node: Node) -> list[Value]:
    """Input, weight and, if there is one, bias.

    Raises
    ------
    ModelFormatError
        If the input or the weight is missing.
    """
    return [node.value(0), node.value(1), *([bias] if (bias := node.optional(2)) else [])]
