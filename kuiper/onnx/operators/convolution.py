"""Convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value


@operator("Conv")
def conv(node: Node, build: GraphBuilder) -> Value:
    weight = node.constant(1, "a weight")
    axes = weight.ndim - 2
    pads = node.ints("pads", [0] * 2 * axes)
    params = {
        "in_channels": weight.shape[1] * node.int("group", 1),
        "out_channels": weight.shape[0],
        "kernel_size": list(weight.shape[2:]),
        "stride": node.ints("strides", [1] * axes),
        "dilation": node.ints("dilations", [1] * axes),
        "groups": node.int("group", 1),
        "padding": pads[:axes],
        "bias": node.optional(2) is not None,
    }
    attrs = {"weight": weight}
    if node.optional(2):
        attrs["bias"] = node.constant(2, "a bias")
    return build.op(f"nn.Conv{axes}d", node.value(0), params=params, attrs=attrs)
