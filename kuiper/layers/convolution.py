"""What all convolutions share: where the kernel stands on the image, and how the file says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.layers.window import Window, for_each_axis

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ConvolutionParameters:
    """What a convolution's line in the file says beside its weights; ``padding`` may be "same" or "valid".

    ``after`` is the padding at bottom and right where it is another than at top and left, as ONNX has it.

    A 1-D convolution (``axes`` 1) is a 2-D one on an image of height 1: stride and dilation 1, padding 0 vertically.
    """

    axes: int
    stride: Pair
    padding: Pair | str
    dilation: Pair
    groups: int
    where: str
    after: Pair | None = None

    @classmethod
    def read(cls, op: RuntimeOperator, axes: int) -> ConvolutionParameters:
        """The parameters of an ``nn.Conv*`` or ``F.conv*`` operator.

        Raises
        ------
        ParameterError
            If one is out of range.
        """
        word = op.has_param("padding") and isinstance(op.params["padding"].value, str)
        padding = op.str_param("padding") if word else per_axis(op, "padding", axes, 0, at_least=0)
        stride = per_axis(op, "stride", axes, 1, at_least=1)
        if padding not in ("same", "valid") and word:
            raise ParameterError(op.where, "padding=integers, same or valid", padding)
        if padding == "same" and stride != (1, 1):
            raise ParameterError(op.where, "stride 1 with padding=same", stride[-axes:])
        groups = op.int_param("groups", 1)
        if groups < 1:
            raise ParameterError(op.where, "groups of at least 1", groups)
        dilation = per_axis(op, "dilation", axes, 1, at_least=1)
        after = per_axis(op, "padding_after", axes, 0, at_least=0) if op.has_param("padding_after") else None
        return cls(axes, stride, padding, dilation, groups, op.where, after)

    def window(self, kernel: Pair) -> Window:
        """Where a kernel of this size stands; "same" pads more at bottom and right if it cannot pad evenly."""
        dilation = _of_kernel(kernel, self.dilation)
        if not isinstance(self.padding, str):
            before, after = self.padding, self.after or self.padding
        elif self.padding == "same":
            total_h, total_w = dilation[0] * (kernel[0] - 1), dilation[1] * (kernel[1] - 1)
            before = total_h // 2, total_w // 2
            after = total_h - before[0], total_w - before[1]
        else:
            before = after = (0, 0)
        return Window(kernel, self.stride, before, after, dilation)

    def as_images(self, x: Array, channels: int) -> Array:
        """``x`` (n, c, h, w), (n, c, l) or either without n as images (n, c, h, w) in C order.

        Raises
        ------
        ShapeError
            If it has another number of axes or of channels.
        DataTypeError
            If it is not float32.
        """
        if x.ndim - self.axes not in (1, 2) or x.shape[-self.axes - 1] != channels:
            letters = "h, w" if self.axes == 2 else "l"
            raise ShapeError(self.where, f"input (n, {channels}, {letters})", x.shape)
        if x.dtype != np.float32:
            raise DataTypeError(self.where, "float32 input", x.dtype)
        images = x if x.ndim == self.axes + 2 else x[None]
        return np.ascontiguousarray(images if self.axes == 2 else images[:, :, None])

    def like(self, x: Array, images: Array) -> Array:
        """The inverse of ``as_images``: results with those axes that ``x`` had."""
        outputs = images if self.axes == 2 else images[:, :, 0]
        return outputs if x.ndim == self.axes + 2 else outputs[0]

    def as_kernels(self, weight: Array) -> Array:
        """The operand ``weight`` of a functional convolution as (a, b, kernel_h, kernel_w).

        Raises
        ------
        ShapeError
            If its number of axes does not fit, or ``groups`` does not divide its first.
        """
        if weight.ndim != self.axes + 2 or 0 in weight.shape or weight.shape[0] % self.groups:
            shape = "(a, b, kernel_h, kernel_w)" if self.axes == 2 else "(a, b, kernel)"
            expected = f"weight {shape} where groups={self.groups} divides a"
            raise ShapeError(self.where, expected, weight.shape)
        return weight if self.axes == 2 else weight[:, :, None]


def _of_kernel(kernel: Pair, dilation: Pair) -> Pair:
    """A dilation, 1 along axes where the kernel has one entry only and so no distance between two."""
    vertical, horizontal = (d if size > 1 else 1 for size, d in zip(kernel, dilation, strict=True))
    return vertical, horizontal


def per_axis(op: RuntimeOperator, key: str, axes: int, default: int, at_least: int) -> Pair:
    """A parameter as (vertical, horizontal); one number stands for all axes, the default for an axis that is not there.

    Raises
    ------
    ParameterError
        If there are more numbers than axes, or a number is too small.
    """
    numbers = for_each_axis(op, key, axes, default, at_least)
    return (numbers[0] if axes == 2 else default), numbers[-1]


def read_channels(op: RuntimeOperator, groups: int) -> Pair:
    """in_channels and out_channels.

    Raises
    ------
    ParameterError
        If one is not positive or not a multiple of ``groups``.
    """
    channels = op.int_param("in_channels"), op.int_param("out_channels")
    if min(channels) < 1 or channels[0] % groups or channels[1] % groups:
        expected = f"in_channels and out_channels that groups={groups} divides"
        raise ParameterError(op.where, expected, f"{channels[0]} and {channels[1]}")
    return channels


def check_bias(bias: Array | None, channels: int, where: str) -> None:
    """Raise ShapeError unless ``bias`` has one number for each output channel, or there is none."""
    if bias is not None and bias.shape != (channels,):
        raise ShapeError(where, f"bias ({channels},)", bias.shape)
