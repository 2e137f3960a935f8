"""Channel shuffles: one copy, from channels seen as a table (groups, own) to channels seen as (own, groups)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.placement import copy_between, memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.channel_shuffle import ChannelShuffle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(ChannelShuffle)
def lower_channel_shuffle(layer: ChannelShuffle, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.ChannelShuffle."""
    x = builder.on_arena(inputs[0])
    decline_if(x.view.ndim < 3 or x.shape[1] % layer.groups)
    n, channels, *image = x.shape
    out = memory_like(builder, x, x.shape)
    source = x.view.reshape(n, layer.groups, channels // layer.groups, *image).swapaxes(1, 2)
    target = out.view.reshape(n, channels // layer.groups, layer.groups, *image)
    copy_between(builder, Value(x.buffer, source), Value(out.buffer, target))
    return [out]
