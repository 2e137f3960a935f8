"""Convolutions along one axis: those of images of height 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.convolution import lower_convolution
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.fused.conv2d import FusedConv1d
from kuiper.layers.operators.conv1d import Conv1d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.activation import Activation
    from kuiper.layers.convolution import ConvolutionParameters
    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window


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
def lower_conv1d(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.Conv1d with its residual and activation."""
    decline_if(layer.border or any(len(value.shape) != 3 for value in inputs))
    images: list[AnyValue] = [_as_image(builder.on_arena(value)) for value in inputs]
    on_images = _OnImages(
        layer.weight[:, :, None], layer.bias, layer.window, layer.parameters, layer.in_channels, layer.border,
        getattr(layer, "activation", None),
    )  # fmt: skip
    outputs = lower_convolution(on_images, images, builder)
    return [Value(out.buffer, out.view[:, :, 0]) for out in outputs if isinstance(out, Value)]


def _as_image(x: Value) -> Value:
    """(n, c, l) as an image (n, c, 1, l): a view; anyone who needs its channels side by side copies it."""
    return Value(x.buffer, x.view[:, :, None])
