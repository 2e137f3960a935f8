"""Concatenation: parts that are in their places already stay there (``concatenation.py``), the others are copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.lowering.placement import lies_by_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, narrow, same_memory
from kuiper.layers.operators.cat import Cat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner


@lowers(Cat)
def lower_cat(layer: Cat, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """The parts side by side; those that are not there yet are copied."""
    parts = [planner.on_arena(value) for value in inputs]
    if any(part is None or part.view.ndim == 0 for part in parts):
        return None
    found = [part for part in parts if part is not None]
    ranks = {len(part.shape) for part in found}
    if len(ranks) > 1 or not -min(ranks) <= layer.dim < min(ranks):
        return None
    axis = layer.dim % len(found[0].shape)
    if len({(*part.shape[:axis], *part.shape[axis + 1 :]) for part in found}) > 1:
        return None
    total = sum(part.shape[axis] for part in found)
    shape = (*found[0].shape[:axis], total, *found[0].shape[axis + 1 :])
    assert planner.op is not None
    by_rows = len(shape) != 4 or all(lies_by_rows(part) for part in found)
    if planner.shapes.get(planner.op.outputs[0].index) == shape:
        whole = planner.concatenated(planner.op, by_rows)
    else:
        whole = planner.rows(shape) if by_rows else planner.image(shape)
    start = 0
    for part in found:
        place = narrow(whole, axis, start, part.shape[axis])
        if not same_memory(part, place):
            copy_into(planner, part, place)
        start += part.shape[axis]
    return [whole]
