"""Transposed convolutions: as many small convolutions as there are positions between two input pixels.

A transposed convolution of stride 2 writes its kernel's entries to every second pixel. Seen from the output, the even
pixels meet only the even entries, the odd pixels only the odd ones:

    kernel a b c d, stride 2      out[0] out[1] out[2] out[3] out[4] out[5]
                                    |      |      |      |      |      |
    even pixels: entries a c        +------|------+------|------+      |        a convolution with the kernel  c a
    odd pixels:  entries b d               +-------------+-------------+        a convolution with the kernel  d b

so each phase is an ordinary convolution of stride 1 that writes to every second row and column, and no sum is ever
written twice. Source: W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.activation import activation_numbers
from kuiper.engine.lowering.convolution import emit_convolution
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.packing import PackedWeights, pack
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.fused.conv_transpose2d import FusedConvTranspose2d
from kuiper.layers.operators.conv_transpose2d import ConvTranspose2d, output_size
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


class Phase(NamedTuple):
    """Outputs first, first + stride, ... of one axis: the kernel entries they meet, and the first input pixel."""

    first: int
    entries: tuple[int, ...]
    start: int
    step: int


def phases(kernel: int, stride: int, before: int, dilation: int) -> list[Phase]:
    """How the outputs of one axis fall into convolutions.

    >>> phases(4, 2, 0, 1)
    [Phase(first=0, entries=(2, 0), start=-1, step=1), Phase(first=1, entries=(3, 1), start=-1, step=1)]
    """
    found = []
    for first in range(stride):
        entries = [k for k in range(kernel) if (first + before - k * dilation) % stride == 0][::-1]
        start = (first + before - entries[0] * dilation) // stride if entries else 0
        found.append(Phase(first, tuple(entries), start, dilation // math.gcd(dilation, stride)))
    return found


MAX_LANES = 16
"""Of any build: what one leaves to the layer, which adds up in another order, all do."""


@lowers(ConvTranspose2d, FusedConvTranspose2d)
def lower_conv_transpose(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.ConvTranspose2d with its activation, phase by phase."""
    shape, window, groups = inputs[0].shape, layer.window, layer.parameters.groups
    decline_if(len(shape) != 4 or shape[1] != layer.in_channels or len(inputs) > 1)
    out_channels = layer.weight.shape[1] * groups
    decline_if(groups > 1 and layer.weight.shape[1] % MAX_LANES)
    # of outputs that no kernel entry reaches there may be more than can be looked at
    decline_if(any(stride > kernel for stride, kernel in zip(window.stride, window.kernel, strict=True)))
    axes = [
        phases(k, s, b, d)
        for k, s, b, d in zip(window.kernel, window.stride, window.before, window.dilation, strict=True)
    ]
    decline_if(not all(phase.entries for axis in axes for phase in axis))  # outputs that no kernel entry reaches
    out_h, out_w = output_size(shape[2:], window, layer.output_padding, layer.op.where)
    x = builder.image_of(inputs[0])
    decline_if(min(out_h, out_w) < 1)
    out = builder.image((shape[0], out_channels, out_h, out_w))
    for vertical in axes[0]:
        for horizontal in axes[1]:
            _emit_phase(layer, builder, x, out, vertical, horizontal)
    return [out]


def _emit_phase(layer: Any, builder: Builder, x: Value, out: Value, vertical: Phase, horizontal: Phase) -> None:
    stride_h, stride_w = layer.window.stride
    part = Value(out.buffer, out.view[:, :, vertical.first :: stride_h, horizontal.first :: stride_w])
    if part.view.size == 0:
        return
    window = Window(
        (len(vertical.entries), len(horizontal.entries)),
        before=(-vertical.start, -horizontal.start),
        dilation=(vertical.step, horizontal.step),
    )
    pixels = part.shape[0] * part.shape[2] * part.shape[3]

    def make() -> PackedWeights:
        in_c, own = layer.weight.shape[:2]
        groups = layer.parameters.groups
        entries = layer.weight[:, :, list(vertical.entries)][:, :, :, list(horizontal.entries)]
        grouped = entries.reshape(groups, in_c // groups, own, *window.kernel).swapaxes(1, 2)
        weight = np.ascontiguousarray(grouped.reshape(groups * own, in_c // groups, *window.kernel))
        return pack(builder.machine, weight, layer.bias, groups, pixels)

    packed = builder.pack(("phase", vertical.first, horizontal.first), make)
    emit_convolution(builder, x, part, packed, window, activation_numbers(layer))
