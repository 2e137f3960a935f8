"""nn.Conv3d and F.conv3d: convolutions of volumes, one image of the kernel after the other."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.convolution import check_bias, read_channels
from kuiper.layers.convolution3d import VolumeParameters
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.conv2d import Kernels, conv2d, convolution_flops
from kuiper.layers.operators.pad import pad
from kuiper.layers.registry import register
from kuiper.layers.volumes import triple
from kuiper.layers.weight_layer import ParamLayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.window import Window


@register("nn.Conv3d")
class Conv3d(ParamLayer):
    """The volume filtered by ``out_channels`` kernels; a padding_mode other than zeros repeats the volume outside.

    Source: torch.nn.Conv3d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        self.parameters = VolumeParameters.read(op)
        self.in_channels, out_channels = read_channels(op, self.parameters.groups)
        kernel = triple(op, "kernel_size", at_least=1)
        super().__init__(op, (out_channels, self.in_channels // self.parameters.groups, *kernel))
        check_bias(self.bias, out_channels, op.where)
        self.window = self.parameters.window(kernel)
        self.padding_mode = op.str_param("padding_mode", "zeros")
        if self.padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise self.unsupported("padding_mode zeros, reflect, replicate or circular", self.padding_mode)

    @cached_property
    def kernels(self) -> list[Kernels]:
        """The packed weight, one for each image of the kernel, made by the first forward pass."""
        return kernel_images(self.weight, self.parameters.groups)

    def forward(self, x: Array) -> Array:
        volumes, window = self.parameters.as_volumes(x, self.in_channels), self.window
        if self.padding_mode != "zeros":
            ends = zip(reversed(window.before), reversed(window.after), strict=True)
            volumes = pad(volumes, tuple(n for pair in ends for n in pair), self.padding_mode, where=self.op.where)
            window = replace(window, before=(0, 0, 0), after=(0, 0, 0))
        out = conv3d(volumes, self.kernels, self.bias, window, self.op.where)
        return out if x.ndim == 5 else out[0]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return convolution_flops(outputs[0], self.weight.shape, self.bias is not None)


@register("F.conv3d")
class FunctionalConv3d(Layer):
    """A convolution whose weight, and bias if any, are operands.

    Source: torch.nn.functional.conv3d.
    """

    data_inputs = ("input", "weight", "bias")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.parameters = VolumeParameters.read(op)

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        groups = self.parameters.groups
        fits = weight.ndim == 5 and 0 not in weight.shape and weight.shape[0] % groups == 0
        self.expect(fits, f"weight (a, b, kernel_d, kernel_h, kernel_w) where groups={groups} divides a", weight.shape)
        check_bias(bias, weight.shape[0], self.op.where)
        volumes = self.parameters.as_volumes(x, weight.shape[1] * groups)
        kernel = (weight.shape[2], weight.shape[3], weight.shape[4])
        window = self.parameters.window(kernel)
        out = conv3d(volumes, kernel_images(weight, groups), bias, window, self.op.where)
        return out if x.ndim == 5 else out[0]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return convolution_flops(outputs[0], inputs[1], len(inputs) == 3)


def kernel_images(weight: Array, groups: int) -> list[Kernels]:
    """The images of the kernels (out_c, in_c / groups, kernel_d, kernel_h, kernel_w), each packed for ``conv2d``."""
    return [Kernels(np.ascontiguousarray(weight[:, :, k]), groups) for k in range(weight.shape[2])]


def conv3d(x: Array, kernels: Sequence[Kernels], bias: Array | None, window: Window, where: str = "conv3d") -> Array:
    """The volumes ``x`` (n, in_c, d, h, w) filtered: (n, out_c, out_d, out_h, out_w).

    Image z of the output is the sum over k of ``conv2d`` of image z * stride - before + k * dilation of the input with
    image k of the kernels. All images that meet the same one are filtered together.

    Raises
    ------
    ShapeError
        If the kernel is larger than the padded volume.
    """
    n, _, d, h, w = x.shape
    out_d, *size = window.output_size((d, h, w), where)
    image = window.along(1)
    out = np.zeros((n, out_d, kernels[0].out_channels, *size), np.float32)
    for k, kernel in enumerate(kernels):
        z = np.arange(out_d) * window.stride[0] - window.before[0] + k * window.dilation[0]
        inside = np.flatnonzero((z >= 0) & (z < d))
        images = np.ascontiguousarray(x[:, :, z[inside]].swapaxes(1, 2)).reshape(-1, x.shape[1], h, w)
        filtered = conv2d(images, kernel, None, image, where)
        out[:, inside] += filtered.reshape(n, len(inside), *filtered.shape[1:])
    if bias is not None:
        out += bias[:, None, None]
    return np.ascontiguousarray(out.swapaxes(1, 2))
