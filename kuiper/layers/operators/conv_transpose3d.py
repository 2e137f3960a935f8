"""nn.ConvTranspose3d and F.conv_transpose3d: each input voxel stamps a kernel on the output, and the stamps add up."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.convolution import check_bias, read_channels
from kuiper.layers.convolution3d import VolumeParameters
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.conv_transpose2d import Stamps, conv_transpose2d, output_size, transposed_flops
from kuiper.layers.registry import register
from kuiper.layers.volumes import Triple, triple
from kuiper.layers.weight_layer import ParamLayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.window import Window


@register("nn.ConvTranspose3d")
class ConvTranspose3d(ParamLayer):
    """A volume made larger: the transpose of the convolution with the same parameters.

    Source: torch.nn.ConvTranspose3d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        self.parameters = VolumeParameters.read(op)
        groups = self.parameters.groups
        self.in_channels, out_channels = read_channels(op, groups)
        kernel = triple(op, "kernel_size", at_least=1)
        super().__init__(op, (self.in_channels, out_channels // groups, *kernel))
        check_bias(self.bias, out_channels, op.where)
        if op.str_param("padding_mode", "zeros") != "zeros":
            raise self.unsupported("padding_mode zeros", op.str_param("padding_mode"))
        self.window = self.parameters.window(kernel)
        self.output_padding = read_output_padding(op, self.parameters)

    @cached_property
    def stamps(self) -> list[Stamps]:
        """The packed weight, one for each image of the kernel, made by the first forward pass."""
        return stamp_images(self.weight, self.parameters.groups)

    def forward(self, x: Array) -> Array:
        volumes = self.parameters.as_volumes(x, self.in_channels)
        out = conv_transpose3d(volumes, self.stamps, self.bias, self.window, self.output_padding, self.op.where)
        return out if x.ndim == 5 else out[0]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return transposed_flops(inputs[0], outputs[0], self.weight.shape, self.bias is not None)


@register("F.conv_transpose3d")
class FunctionalConvTranspose3d(Layer):
    """A transposed convolution whose weight, and bias if any, are operands.

    Source: torch.nn.functional.conv_transpose3d.
    """

    data_inputs = ("input", "weight", "bias")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.parameters = VolumeParameters.read(op)
        self.output_padding = read_output_padding(op, self.parameters)

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        groups = self.parameters.groups
        fits = weight.ndim == 5 and 0 not in weight.shape and weight.shape[0] % groups == 0
        self.expect(fits, f"weight (a, b, kernel_d, kernel_h, kernel_w) where groups={groups} divides a", weight.shape)
        check_bias(bias, weight.shape[1] * groups, self.op.where)
        volumes = self.parameters.as_volumes(x, weight.shape[0])
        window = self.parameters.window((weight.shape[2], weight.shape[3], weight.shape[4]))
        stamps = stamp_images(weight, groups)
        out = conv_transpose3d(volumes, stamps, bias, window, self.output_padding, self.op.where)
        return out if x.ndim == 5 else out[0]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return transposed_flops(inputs[0], outputs[0], inputs[1], len(inputs) == 3)


def stamp_images(weight: Array, groups: int) -> list[Stamps]:
    """The images of kernels (in_c, out_c / groups, kernel_d, kernel_h, kernel_w), packed for ``conv_transpose2d``."""
    return [Stamps(np.ascontiguousarray(weight[:, :, k]), groups) for k in range(weight.shape[2])]


def conv_transpose3d(
    x: Array,
    stamps: Sequence[Stamps],
    bias: Array | None,
    window: Window,
    output_padding: Triple = (0, 0, 0),
    where: str = "conv_transpose3d",
) -> Array:
    """The volumes ``x`` (n, in_c, d, h, w) stamped out: (n, out_c, out_d, out_h, out_w).

    Image z of the input, stamped with image k of the kernels by ``conv_transpose2d``, is added to image
    z * stride - before + k * dilation of the output, if there is such a one.

    Raises
    ------
    ShapeError
        If the padding is more than the output.
    """
    n, in_c, d, h, w = x.shape
    out_d, *size = output_size((d, h, w), window, output_padding, where)
    image = window.along(1)
    out = np.zeros((n, out_d, stamps[0].out_channels, *size), np.float32)
    images = np.ascontiguousarray(x.swapaxes(1, 2)).reshape(n * d, in_c, h, w)
    for k, stamp in enumerate(stamps):
        stamped = conv_transpose2d(images, stamp, None, image, output_padding[1:], where)
        z = np.arange(d) * window.stride[0] - window.before[0] + k * window.dilation[0]
        inside = np.flatnonzero((z >= 0) & (z < out_d))
        out[:, z[inside]] += stamped.reshape(n, d, *stamped.shape[1:])[:, inside]
    if bias is not None:
        out += bias[:, None, None]
    return np.ascontiguousarray(out.swapaxes(1, 2))


def read_output_padding(op: RuntimeOperator, parameters: VolumeParameters) -> Triple:
    """How many images, rows and columns the output gets more at its far ends.

    Raises
    ------
    ParameterError
        If the padding is a word, or an output padding is not smaller than stride or dilation, as in torch.
    """
    if isinstance(parameters.padding, str):
        raise ParameterError(op.where, "padding=integers", parameters.padding)
    amounts = triple(op, "output_padding", 0)
    limits = [max(pair) for pair in zip(parameters.stride, parameters.dilation, strict=True)]
    if any(amount >= limit for amount, limit in zip(amounts, limits, strict=True)):
        raise ParameterError(op.where, "output_padding smaller than stride or dilation", amounts)
    return amounts
