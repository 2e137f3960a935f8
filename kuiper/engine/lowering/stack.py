"""torch.stack: every input is copied to its place on the new axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.declined import axis_of, decline_if
from kuiper.engine.lowering.placement import memory_by_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(Stack)
def lower_stack(layer: Stack, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.stack of tensors of one shape."""
    parts = [builder.on_arena(value) for value in inputs]
    decline_if(len({part.shape for part in parts}) != 1)
    rank = parts[0].view.ndim + 1
    decline_if(rank > MAX_NDIM)
    dim = axis_of(layer.dim, rank)
    shape = (*parts[0].shape[:dim], len(parts), *parts[0].shape[dim:])
    out = memory_by_rows(builder, shape)
    for i, part in enumerate(parts):
        place = out.view[(slice(None),) * dim + (i, ...)]
        copy_into(builder, part, Value(out.buffer, place))
    return [out]
