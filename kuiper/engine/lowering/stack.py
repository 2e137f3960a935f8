"""torch.stack: every input is copied to its place on the new axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
def lower_stack(layer: Stack, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """torch.stack of tensors of one shape."""
    parts = [builder.on_arena(value) for value in inputs]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or len({part.shape for part in found}) != 1:
        return None
    rank = found[0].view.ndim + 1
    if rank > MAX_NDIM or not -rank <= layer.dim < rank:
        return None
    dim = layer.dim % rank
    shape = (*found[0].shape[:dim], len(found), *found[0].shape[dim:])
    out = memory_by_rows(builder, shape)
    for i, part in enumerate(found):
        place = out.view[(slice(None),) * dim + (i, ...)]
        copy_into(builder, part, Value(out.buffer, place))
    return [out]
