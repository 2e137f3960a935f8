"""nn.Conv2d and F.conv2d: each output pixel is the sum of a window of the image times a kernel."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kuiper.layers.convolution import ConvolutionParameters, check_bias, per_axis, read_channels
from kuiper.layers.gemm import matmul, pack_left
from kuiper.layers.kernels.im2col import im2col
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.pad import pad
from kuiper.layers.registry import register
from kuiper.layers.weight_layer import ParamLayer
from kuiper.machine import this_machine
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.gemm import PackedLeft
    from kuiper.layers.reads import Reads
    from kuiper.layers.window import Window


class Kernels:
    """The weight (out_c, in_c / groups, kernel_h, kernel_w) of a convolution, made ready once for any number of images.

    Output channels come in ``groups`` equal parts, each of which sees its own part of the input channels: one packed
    matrix each. A depthwise convolution, where every part is one input channel, keeps its kernels as ``planes``.
    """

    def __init__(self, weight: Array, groups: int = 1) -> None:
        self.groups = groups
        self.out_channels, self.in_channels = weight.shape[0], weight.shape[1] * groups
        self.planes: Array | None = None
        self.matrices: list[PackedLeft] = []
        if groups > 1 and weight.shape[1] == 1:
            self.planes = np.ascontiguousarray(weight[:, 0])
        else:
            self.matrices = [pack_left(part) for part in weight.reshape(groups, weight.shape[0] // groups, -1)]


@register("nn.Conv2d")
class Conv2d(ParamLayer):
    """The image filtered by ``out_channels`` kernels; a padding_mode other than zeros repeats the image outside.

    Source: torch.nn.Conv2d.
    """

    axes: ClassVar[int] = 2

    def __init__(self, op: RuntimeOperator) -> None:
        self.parameters = ConvolutionParameters.read(op, self.axes)
        groups = self.parameters.groups
        self.in_channels, out_channels = read_channels(op, groups)
        kernel = per_axis(op, "kernel_size", self.axes, 1, at_least=1)
        super().__init__(op, (out_channels, self.in_channels // groups, *kernel[-self.axes :]))
        check_bias(self.bias, out_channels, op.where)
        self.window = self.parameters.window(kernel)
        self.border: tuple[int, ...] = ()
        self.padding_mode = op.str_param("padding_mode", "zeros")
        if self.padding_mode != "zeros":
            (top, left), (bottom, right) = self.window.before, self.window.after
            self.border = (left, right, top, bottom)
            self.window = replace(self.window, before=(0, 0), after=(0, 0))
        if self.padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise self.unsupported("padding_mode zeros, reflect, replicate or circular", self.padding_mode)

    @cached_property
    def kernels(self) -> Kernels:
        """The packed weight, made by the first forward pass: an engine that packs by itself has no use for it.

        Two threads that are first at the same time may both make it; either result will do.
        """
        return Kernels(self.weight.reshape(*self.weight.shape[:2], *self.window.kernel), self.parameters.groups)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return None if self.border else self.window.reads(sizes)  # a border that repeats the image: holes in the field

    def forward(self, x: Array) -> Array:
        images = self.parameters.as_images(x, self.in_channels)
        if self.border:
            images = pad(images, self.border, self.padding_mode, where=self.op.where)
        return self.parameters.like(x, conv2d(images, self.kernels, self.bias, self.window, self.op.where))

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return convolution_flops(outputs[0], self.weight.shape, self.bias is not None)


@register("F.conv2d")
class FunctionalConv2d(Layer):
    """A convolution whose weight, and bias if any, are operands.

    Source: torch.nn.functional.conv2d.
    """

    data_inputs = ("input", "weight", "bias")
    axes: ClassVar[int] = 2

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.parameters = ConvolutionParameters.read(op, self.axes)

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        kernels = Kernels(self.parameters.as_kernels(weight), self.parameters.groups)
        check_bias(bias, kernels.out_channels, self.op.where)
        images = self.parameters.as_images(x, kernels.in_channels)
        kernel = (1, *weight.shape[2:])[-2:]
        return self.parameters.like(x, conv2d(images, kernels, bias, self.parameters.window(kernel), self.op.where))

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return convolution_flops(outputs[0], inputs[1], len(inputs) == 3)


def conv2d(x: Array, kernels: Kernels, bias: Array | None, window: Window, where: str = "conv2d") -> Array:
    """The images ``x`` (n, in_c, h, w) filtered: (n, out_c, out_h, out_w).

        out[n, o, y, x] = bias[o] + sum over c, ky, kx of  weight[o, c, ky, kx] *
            image[n, c, y * stride_h - pad_top + ky * dilation_h, x * stride_w - pad_left + kx * dilation_w]

    (zero outside the image; c runs over the channels of o's group).

    >>> import numpy as np
    >>> from kuiper.layers.window import Window
    >>> image, kernel = np.float32([[[[1, 2, 3], [4, 5, 6]]]]), np.float32([[[[10, 1]]]])
    >>> conv2d(image, Kernels(kernel), None, Window((1, 2)))
    array([[[[12., 23.],
             [45., 56.]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the kernel is larger than the padded image.
    """
    n, in_c, h, w = x.shape
    out = np.empty((n, kernels.out_channels, *window.output_size((h, w), where)), np.float32)
    if kernels.planes is not None:
        out[...] = 0 if bias is None else bias[:, None, None]
        _add_depthwise(x, kernels.planes, window, out)
        return out
    sources = x.reshape(n, kernels.groups, in_c // kernels.groups, h, w)
    results = out.reshape(n, kernels.groups, kernels.out_channels // kernels.groups, *out.shape[2:])
    for image, result in zip(sources, results, strict=True):
        for matrix, part, target in zip(kernels.matrices, image, result, strict=True):
            _multiply(matrix, part, target, window)
    if bias is not None:
        out += bias[:, None, None]
    return out


def _add_depthwise(x: Array, planes: Array, window: Window, out: Array) -> None:
    """Add to ``out`` (n, c * m, out_h, out_w) the images ``x`` (n, c, h, w), each channel filtered by m of ``planes``.

    With one input channel for each kernel a matrix product has nothing to share: im2col would write every pixel nine
    times to read it once. So for each tap of the kernel, a whole image of outputs grows.
    """
    (stride_h, stride_w), (dilation_h, dilation_w) = window.stride, window.dilation
    (top, left), (bottom, right) = window.before, window.after
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    multiplier, (out_h, out_w) = len(planes) // x.shape[1], out.shape[2:]
    results = out.reshape(len(x), x.shape[1], multiplier, out_h, out_w)
    for ky, kx in np.ndindex(planes.shape[1:]):
        rows = slice(ky * dilation_h, ky * dilation_h + (out_h - 1) * stride_h + 1, stride_h)
        columns = slice(kx * dilation_w, kx * dilation_w + (out_w - 1) * stride_w + 1, stride_w)
        weights = planes[:, ky, kx].reshape(-1, multiplier, 1, 1)
        results += padded[:, :, None, rows, columns] * weights


def _multiply(matrix: PackedLeft, image: Array, out: Array, window: Window) -> None:
    """Fill ``out`` (o, out_h, out_w) with one group's kernels on one image (c, h, w), some rows at a time.

    What im2col writes and the product reads at a time stays in the second-level cache.
    """
    depth = matrix.shape[1]
    pixels = out.reshape(len(out), -1)
    if window.is_pointwise:
        matmul(matrix, image.reshape(depth, -1), out=pixels)
        return
    out_h, out_w = out.shape[1:]
    blocks = min(out_h, -(-depth * out_h * out_w // (this_machine().l2 // 4)))
    rows = -(-out_h // blocks)
    scratch = np.empty(depth * rows * out_w, np.float32)
    for first in range(0, out_h, rows):
        count = min(rows, out_h - first)
        columns = scratch[: depth * count * out_w].reshape(depth, count, out_w)
        im2col(image, columns, *window.plane, first, threads_for(columns.size))
        block = pixels[:, first * out_w : (first + count) * out_w]
        matmul(matrix, columns.reshape(depth, -1), out=block)


def convolution_flops(outputs: tuple[int, ...], weight: tuple[int, ...], has_bias: bool) -> int:
    """Two for each weight that an output pixel meets, one for the bias."""
    return math.prod(outputs) * (2 * math.prod(weight[1:]) + has_bias)
