"""Pixel shuffles and unshuffles: one copy between images whose axes are split.

    few channels, many pixels   (..., c, h * r, w * r)  seen as  (..., c, h, r, w, r)
    many channels, few pixels   (..., c * r * r, h, w)  seen as  (..., c, r, r, h, w)

Splitting an axis is a view, whatever the layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.placement import copy_between, memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.pixel_shuffle import PixelShuffle
from kuiper.layers.operators.pixel_unshuffle import PixelUnshuffle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array


@lowers(PixelShuffle)
def lower_pixel_shuffle(layer: PixelShuffle, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.PixelShuffle."""
    x, r = builder.on_arena(inputs[0]), layer.upscale_factor
    decline_if(x.view.ndim < 3 or x.shape[-3] % (r * r))
    *batch, channels, h, w = x.shape
    out = memory_like(builder, x, (*batch, channels // (r * r), h * r, w * r))
    copy_between(builder, Value(x.buffer, _split_channels(x.view, r)), Value(out.buffer, _split_pixels(out.view, r)))
    return [out]


@lowers(PixelUnshuffle)
def lower_pixel_unshuffle(layer: PixelUnshuffle, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.PixelUnshuffle."""
    x, r = builder.on_arena(inputs[0]), layer.downscale_factor
    decline_if(x.view.ndim < 3 or x.shape[-2] % r or x.shape[-1] % r)
    *batch, channels, height, width = x.shape
    out = memory_like(builder, x, (*batch, channels * r * r, height // r, width // r))
    copy_between(builder, Value(x.buffer, _split_pixels(x.view, r)), Value(out.buffer, _split_channels(out.view, r)))
    return [out]


def _split_channels(image: Array, r: int) -> Array:
    """(..., c * r * r, h, w) as (..., c, r, r, h, w)."""
    *batch, channels, h, w = image.shape
    return image.reshape(*batch, channels // (r * r), r, r, h, w)


def _split_pixels(image: Array, r: int) -> Array:
    """(..., c, h * r, w * r) as (..., c, r, r, h, w)."""
    *batch, c, height, width = image.shape
    n = len(batch)
    pixels = image.reshape(*batch, c, height // r, r, width // r, r)
    split: Array = pixels.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return split
