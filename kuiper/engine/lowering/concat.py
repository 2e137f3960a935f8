"""Concatenation: parts move to their places (``concatenation.py``), or are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.concatenation import move
from kuiper.engine.declined import axis_of, decline_if
from kuiper.engine.lowering.placement import lies_by_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, narrow
from kuiper.layers.operators.cat import Cat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(Cat)
def lower_cat(layer: Cat, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The parts side by side."""
    found = [builder.on_arena(value) for value in inputs]
    decline_if(len({part.view.ndim for part in found}) > 1)
    axis = axis_of(layer.dim, found[0].view.ndim)
    decline_if(len({(*part.shape[:axis], *part.shape[axis + 1 :]) for part in found}) > 1)
    total = sum(part.shape[axis] for part in found)
    shape = (*found[0].shape[:axis], total, *found[0].shape[axis + 1 :])
    by_rows = len(shape) != 4 or all(lies_by_rows(part) for part in found)
    whole, start = builder.rows(shape) if by_rows else builder.image(shape), 0
    for position, part in enumerate(found, 1):
        place = narrow(whole, axis, start, part.shape[axis])
        if not move(part, place, axis, position == len(found)):
            copy_into(builder, part, place)
        start += part.shape[axis]
    return [whole]
