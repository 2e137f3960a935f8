"""torch.roll: each axis falls into two pieces that change places.

    a b c | d e   rolled by 2   ->   d e | a b c

Each combination of pieces is one copy: four for an image that moves down and to the right.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from kuiper.engine.declined import axis_of, decline_if
from kuiper.engine.lowering.placement import memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import Value, narrow
from kuiper.layers.operators.roll import Roll

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue


@lowers(Roll)
def lower_roll(layer: Roll, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.roll along some axes."""
    x = builder.on_arena(inputs[0])
    decline_if(not layer.dims or not x.view.ndim <= MAX_NDIM)
    shifts = dict.fromkeys(range(x.view.ndim), 0)
    for dim, shift in zip(layer.dims, layer.shifts, strict=True):
        shifts[axis_of(dim, x.view.ndim)] += shift
    return [rolled(builder, x, shifts)]


def rolled(builder: Builder, x: Value, shifts: dict[int, int]) -> Value:
    """``x`` moved on by this many entries along each axis that is named."""
    out = memory_like(builder, x, x.shape)
    for pieces in product(*(_pieces(size, shifts.get(axis, 0) % size) for axis, size in enumerate(x.shape))):
        source, target = x, out
        for axis, (start, size, place) in enumerate(pieces):
            source, target = narrow(source, axis, start, size), narrow(target, axis, place, size)
        copy_into(builder, source, target)
    return out


def _pieces(size: int, shift: int) -> list[tuple[int, int, int]]:
    """Start, size and new place of each piece of an axis that moves on by 0 <= ``shift`` < ``size``."""
    pieces = [(0, size - shift, shift), (size - shift, shift, 0)]
    return [piece for piece in pieces if piece[1]]
