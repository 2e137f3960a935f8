"""Convolutions along one axis: those of images of height 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.lib.stride_tricks import as_strided

from kuiper.engine.lowering.convolution import POINTWISE, lower_convolution
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value, is_image
from kuiper.layers.fused.conv2d import FusedConv1d
from kuiper.layers.operators.conv1d import Conv1d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.activation import Activation
    from kuiper.layers.convolution import ConvolutionParameters
    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window


_LONG = 16
"""Taps from which on a product with frames is worth it: fewer leave vectors and loops half empty."""


@dataclass(frozen=True, slots=True)
class _OnImages:
    """What the lowering of convolutions wants to know of a layer, for the one that does the same to images."""

    weight: Array
    bias: Array | None
    window: Window
    parameters: ConvolutionParameters
    in_channels: int
    border: tuple[int, ...]
    activation: Activation | None


@lowers(Conv1d, FusedConv1d)
def lower_conv1d(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """nn.Conv1d with its residual and activation."""
    if layer.border or any(len(value.shape) != 3 for value in inputs):
        return None
    frames = _frames(builder, layer, inputs[0])
    images = [frames or _as_image(builder, inputs[0]), *(_as_image(builder, value) for value in inputs[1:])]
    found: list[AnyValue] = [image for image in images if image is not None]
    if len(found) < len(images):
        return None
    taps = layer.window.kernel[1]
    on_images = _OnImages(
        layer.weight[:, :, None] if frames is None else layer.weight.reshape(-1, taps, 1, 1), layer.bias,
        layer.window if frames is None else POINTWISE, layer.parameters,
        layer.in_channels if frames is None else taps, layer.border, getattr(layer, "activation", None),
    )  # fmt: skip
    outputs = lower_convolution(on_images, found, builder)
    return outputs and [Value(out.buffer, out.view[:, :, 0]) for out in outputs if isinstance(out, Value)]


def _frames(builder: Builder, layer: Any, value: AnyValue) -> Value | None:
    """The pieces of a signal (n, 1, l) that a long kernel looks at, as pixels (n, taps, 1, pieces) that overlap.

    So the convolution is a product of frames with the weights, as a Fourier transform in short pieces is. None if the
    kernel is short, its taps are apart, or it looks beyond the ends.
    """
    window = layer.window
    (_, taps), (_, stride) = window.kernel, window.stride
    is_plain = window.dilation == (1, 1) and window.before == window.after == (0, 0)
    if layer.in_channels != 1 or not is_plain or taps < _LONG or value.shape[1:2] != (1,) or value.shape[2] < taps:
        return None
    x = builder.on_arena(value)
    if x is None or x.strides[2] != 1:
        return None
    pieces = (x.shape[2] - taps) // stride + 1
    batch, _, step = x.view.strides
    view = as_strided(x.view, (x.shape[0], taps, 1, pieces), (batch, step, batch, stride * step), writeable=False)
    return Value(x.buffer, view)


def _as_image(builder: Builder, value: AnyValue) -> Value | None:
    """(n, c, l) as an image (n, c, 1, l) with channels side by side: a view, or a copy."""
    x = builder.on_arena(value)
    if x is None:
        return None
    image = Value(x.buffer, x.view[:, :, None])
    if is_image(image):
        return image
    turned = builder.image(image.shape, fixed=True)
    copy_into(builder, image, turned)
    return turned
