"""nn.ConvTranspose2d and F.conv_transpose2d: each input pixel stamps a kernel on the output, and the stamps add up."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.convolution import ConvolutionParameters, Pair, check_bias, per_axis, read_channels
from kuiper.layers.gemm import matmul, pack_left
from kuiper.layers.kernels.col2im import col2im
from kuiper.layers.layer import Array, Layer
from kuiper.layers.reads import Reads, transposed_reads
from kuiper.layers.registry import register
from kuiper.layers.weight_layer import ParamLayer
from kuiper.tensor_limit import check_size
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.window import Sizes, Window


class Stamps:
    """The weight (in_c, out_c / groups, kernel_h, kernel_w) of a transposed convolution, made ready once for any image.

    Input channels come in ``groups`` equal parts, each of which makes its own part of the output channels: one packed
    matrix (out_c / groups * kernel_h * kernel_w, in_c / groups) each.
    """

    def __init__(self, weight: Array, groups: int = 1) -> None:
        self.groups = groups
        self.in_channels, self.out_channels = weight.shape[0], weight.shape[1] * groups
        parts = weight.reshape(groups, weight.shape[0] // groups, -1)
        self.matrices = [pack_left(np.ascontiguousarray(part.T)) for part in parts]


@register("nn.ConvTranspose2d")
class ConvTranspose2d(ParamLayer):
    """An image made larger: the transpose of the convolution with the same parameters.

    Source: torch.nn.ConvTranspose2d.
    """

    axes: ClassVar[int] = 2

    def __init__(self, op: RuntimeOperator) -> None:
        self.parameters = ConvolutionParameters.read(op, self.axes)
        groups = self.parameters.groups
        self.in_channels, out_channels = read_channels(op, groups)
        kernel = per_axis(op, "kernel_size", self.axes, 1, at_least=1)
        super().__init__(op, (self.in_channels, out_channels // groups, *kernel[-self.axes :]))
        check_bias(self.bias, out_channels, op.where)
        if op.str_param("padding_mode", "zeros") != "zeros":
            raise self.unsupported("padding_mode zeros", op.str_param("padding_mode"))
        self.window = self.parameters.window(kernel)
        self.output_padding = read_output_padding(op, self.parameters)

    @cached_property
    def stamps(self) -> Stamps:
        """The packed weight, made by the first forward pass (or by two threads that are first: either will do)."""
        return Stamps(self.weight.reshape(*self.weight.shape[:2], *self.window.kernel), self.parameters.groups)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        window = self.window
        axes = zip(sizes, window.kernel, window.stride, window.before, window.dilation, strict=True)
        return [transposed_reads(i, o, *settings) for (i, o), *settings in axes]

    def forward(self, x: Array) -> Array:
        images = self.parameters.as_images(x, self.in_channels)
        out = conv_transpose2d(images, self.stamps, self.bias, self.window, self.output_padding, self.op.where)
        return self.parameters.like(x, out)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return transposed_flops(inputs[0], outputs[0], self.weight.shape, self.bias is not None)


@register("F.conv_transpose2d")
class FunctionalConvTranspose2d(Layer):
    """A transposed convolution whose weight, and bias if any, are operands.

    Source: torch.nn.functional.conv_transpose2d.
    """

    data_inputs = ("input", "weight", "bias")
    axes: ClassVar[int] = 2

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.parameters = ConvolutionParameters.read(op, self.axes)
        self.output_padding = read_output_padding(op, self.parameters)

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        stamps = Stamps(self.parameters.as_kernels(weight), self.parameters.groups)
        check_bias(bias, stamps.out_channels, self.op.where)
        images = self.parameters.as_images(x, stamps.in_channels)
        window = self.parameters.window((1, *weight.shape[2:])[-2:])
        out = conv_transpose2d(images, stamps, bias, window, self.output_padding, self.op.where)
        return self.parameters.like(x, out)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return transposed_flops(inputs[0], outputs[0], inputs[1], len(inputs) == 3)


def conv_transpose2d(
    x: Array,
    stamps: Stamps,
    bias: Array | None,
    window: Window,
    output_padding: Pair = (0, 0),
    where: str = "conv_transpose2d",
) -> Array:
    """The images ``x`` (n, in_c, h, w) stamped out: (n, out_c, out_h, out_w), each output starting from the bias.

        out[n, o, y * stride_h - pad_top + ky * dilation_h, x * stride_w - pad_left + kx * dilation_w]
            += weight[c, o, ky, kx] * image[n, c, y, x]          for all c of o's group, y, x, ky, kx

    What falls outside is dropped. out_h = (h - 1) * stride_h - pad_top - pad_bottom + span_h + output_padding_h; the
    last term chooses among the sizes that a convolution with this window turns into h.

    >>> import numpy as np
    >>> from kuiper.layers.window import Window
    >>> image, kernel = np.float32([[[[1, 2]]]]), np.float32([[[[10, 1, 5]]]])
    >>> conv_transpose2d(image, Stamps(kernel), None, Window((1, 3), stride=(1, 2)))
    array([[[[10.,  1., 25.,  2., 10.]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the padding is more than the output.
    """
    n, in_c, h, w = x.shape
    out = np.empty((n, stamps.out_channels, *output_size((h, w), window, output_padding, where)), np.float32)
    out[...] = 0 if bias is None else bias[:, None, None]
    if out.size == 0:  # no images, or as much padding as output: torch takes both
        return out
    sources = x.reshape(n, stamps.groups, in_c // stamps.groups, h * w)
    results = out.reshape(n, stamps.groups, stamps.out_channels // stamps.groups, *out.shape[2:])
    for image, result in zip(sources, results, strict=True):
        for matrix, part, target in zip(stamps.matrices, image, result, strict=True):
            columns = matmul(matrix, part)
            col2im(columns.reshape(-1, h, w), target, *window.plane, threads_for(columns.size))
    return out


def output_size(size: Sizes, window: Window, output_padding: Sizes, where: str) -> Sizes:
    """(out_h, out_w): the reach of all stamps without the padding, and with the output padding.

    Raises
    ------
    ShapeError
        If nothing is left, or all stamps reach further than a tensor may: kernels count positions there.
    """
    parts = zip(size, window.stride, window.span, output_padding, strict=True)
    reach = [(length - 1) * stride + span + more for length, stride, span, more in parts]
    sizes = tuple(n - before - after for n, before, after in zip(reach, window.before, window.after, strict=True))
    if min(size) < 1 or min(sizes) < 0:
        got = f"{'x'.join(map(str, sizes))} from {'x'.join(map(str, size))}"
        least = "x".join("1" * len(size))
        raise ShapeError(where, f"an input of at least {least}, and no more padding than it has output", got)
    check_size(reach, 4, f"{where}: the output with its padding")
    return sizes


def read_output_padding(op: RuntimeOperator, parameters: ConvolutionParameters) -> Pair:
    """How many rows and columns the output gets at bottom and right.

    Raises
    ------
    ParameterError
        If the padding is a word, or an output padding is not smaller than stride or dilation, as in torch.
    """
    if isinstance(parameters.padding, str):
        raise ParameterError(op.where, "padding=integers", parameters.padding)
    amounts = per_axis(op, "output_padding", parameters.axes, 0, at_least=0)
    limits = tuple(max(pair) for pair in zip(parameters.stride, parameters.dilation, strict=True))
    if amounts[0] >= limits[0] or amounts[1] >= limits[1]:
        expected = "output_padding smaller than stride or dilation"
        raise ParameterError(op.where, expected, amounts[-parameters.axes :])
    return amounts


def transposed_flops(inputs: tuple[int, ...], outputs: tuple[int, ...], weight: tuple[int, ...], has_bias: bool) -> int:
    """Two for each weight that an input pixel is multiplied by, one for the bias of each output."""
    return 2 * math.prod(inputs) * math.prod(weight[1:]) + math.prod(outputs) * has_bias
