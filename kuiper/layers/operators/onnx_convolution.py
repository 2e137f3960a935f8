"""Convolutions in ONNX's spelling, on any number of axes and in any float type: what torch's layers do not take."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.onnx_window import OnnxWindow, read_onnx_window
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.window import Sizes, Window


class OnnxConvolutionLayer(Layer):
    """The base: ``group``, a bias that may be missing, and weights that are an operand."""

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.group = op.int_param("group", 1)

    def check(self, x: Array, weight: Array, bias: Array | None, transposed: bool = False) -> None:
        """Raise ShapeError unless the channels of input, weight and bias fit."""
        self.expect(
            x.ndim == weight.ndim > 2, "input and weight with as many axes, 3 at least", (x.shape, weight.shape)
        )
        self.expect(self.group >= 1, "group of at least 1", self.group)
        into, out = (
            (weight.shape[0], weight.shape[1] * self.group)
            if transposed
            else (
                weight.shape[1] * self.group,
                weight.shape[0],
            )
        )
        fits = x.shape[1] == into and 0 not in weight.shape and weight.shape[0] % self.group == 0
        self.expect(fits, f"input with {into} channels in {self.group} groups", (x.shape, weight.shape))
        if bias is not None:
            self.expect(bias.shape == (out,), f"bias ({out},)", bias.shape)


@register("Conv")
class OnnxConv(OnnxConvolutionLayer):
    """Inputs X (n, c, ...), W (m, c / group, kernel...) and, if there is one, B (m).

    Source: ONNX, Conv.
    """

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        self.check(x, weight, bias)
        window = read_onnx_window(self.op, weight.shape[2:]).placed(x.shape[2:])
        outputs = window.output_size(x.shape[2:], self.op.where)
        padded = window.padded(x, 0, outputs, self.op.where)
        groups = padded.reshape(len(x), self.group, -1, *padded.shape[2:])
        kernels = weight.reshape(self.group, -1, *weight.shape[1:])
        out = np.zeros((len(x), self.group, kernels.shape[1], math.prod(outputs)), x.dtype)
        for place, part in window.taps(groups, outputs):
            kernel = at_place(kernels, place)
            out += np.matmul(kernel, part.reshape(*part.shape[:3], -1))
        return with_bias(out.reshape(len(x), -1, *outputs), bias)


@register("ConvTranspose")
class OnnxConvTranspose(OnnxConvolutionLayer):
    """Inputs X (n, c, ...), W (c, m / group, kernel...) and, if there is one, B (m).

    Source: ONNX, ConvTranspose.
    """

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        self.check(x, weight, bias, transposed=True)
        sizes, axes = x.shape[2:], weight.ndim - 2
        settings = read_onnx_window(self.op, weight.shape[2:])
        window = settings.written
        extra = self.op.ints_param("output_padding", (0,) * axes)
        wanted = self.op.ints_param("output_shape", ())[-axes:]
        self.expect(len(extra) == axes and len(wanted) in (0, axes), f"sizes for {axes} axes", (extra, wanted))
        full = tuple(
            stride * (size - 1) + span + more
            for stride, size, span, more in zip(
                settings.written.stride, sizes, settings.written.span, extra, strict=True
            )
        )
        window, outputs = cropped(settings, sizes, full, wanted)
        self.expect(min(outputs, default=1) > 0, "an output of at least one number along each axis", outputs)
        check_size((len(x), weight.shape[1] * self.group, *full), x.itemsize, self.op.where)
        stamped = self._stamped(x, weight, window, full)
        cuts = [slice(before, before + size) for before, size in zip(window.before, outputs, strict=True)]
        ends = [max(cut.stop - size, 0) for cut, size in zip(cuts, full, strict=True)]
        check_size((*stamped.shape[:2], *(a + b for a, b in zip(full, ends, strict=True))), x.itemsize, self.op.where)
        stamped = np.pad(stamped, [(0, 0), (0, 0), *((0, end) for end in ends)])
        return with_bias(at_place(stamped, cuts), bias)

    def _stamped(self, x: Array, weight: Array, window: Window, full: Sizes) -> Array:
        """Each number of the input times the kernel, added up where it comes to lie, before anything is cut off."""
        sizes = x.shape[2:]
        numbers = x.reshape(len(x), self.group, -1, math.prod(sizes))
        kernels = weight.reshape(self.group, -1, *weight.shape[1:]).swapaxes(1, 2)
        out = np.zeros((len(x), self.group, kernels.shape[1], *full), x.dtype)
        for place, part in window.taps(out, sizes):
            part += np.matmul(at_place(kernels, place), numbers).reshape(part.shape)
        return out.reshape(len(x), -1, *full)


def cropped(settings: OnnxWindow, sizes: Sizes, full: Sizes, wanted: Sizes) -> tuple[Window, Sizes]:
    """What is cut off in front of a transposed convolution's full output, and the sizes that stay.

    ``wanted`` are sizes that the model asks for, or nothing; SAME asks for the input's times the stride.
    """
    window, same = settings.written, settings.auto_pad.startswith("SAME")
    if same and not wanted:
        wanted = tuple(size * stride for size, stride in zip(sizes, window.stride, strict=True))
    if not wanted:
        pads = zip(full, window.before, window.after, strict=True)
        return window, tuple(size - before - after for size, before, after in pads)
    totals = [max(size - target, 0) for size, target in zip(full, wanted, strict=True)]
    upper = settings.auto_pad == "SAME_UPPER"
    before = tuple(total // 2 if upper else total - total // 2 for total in totals)
    return replace(window, before=before), wanted


def at_place(x: Array, place: Sequence[Any]) -> Array:
    """An entry, or a piece, of the last axes."""
    where: tuple[Any, ...] = (..., *place)
    return np.asarray(x[where])


def with_bias(out: Array, bias: Array | None) -> Array:
    """A result (n, m, ...) plus a number for each channel."""
    return out if bias is None else out + bias.reshape(-1, *(1,) * (out.ndim - 2))
