"""Concatenation: for nothing, where the parts are written to their places at once.

    before   conv a -> A        A | B copied to C        after   C: |  a  |  b  |
             conv b -> B                                              ^conv a writes here

A part can be a slice of the whole if it is read by this one concatenation only in this place, and if its kernel, which
writes whole vectors, does not reach into its neighbour: along the channels each part but the last has whole vectors of
them. Parts that cannot are copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.lowering.layout import copy_into
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.cat import Cat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kuiper.engine.planner import Planner
    from kuiper.graph.runtime_operator import RuntimeOperator


@dataclass(frozen=True, slots=True)
class Slice:
    """Input number ``position`` of a concatenation."""

    op: RuntimeOperator
    position: int

    def part(self, whole: Value, shapes: dict[int, tuple[int, ...]], exact: bool) -> Value | None:
        """The slice of ``whole``, or None where whole vectors written to it would reach into the next part.

        An ``exact`` kernel writes no more than there is.
        """
        assert isinstance(self.op.layer, Cat)
        axis = self.op.layer.dim % len(whole.shape)
        parts = [shapes.get(operand.index, ()) for operand in self.op.inputs]
        if any(len(part) != len(whole.shape) for part in parts):
            return None
        sizes = [part[axis] for part in parts]
        start, size = sum(sizes[: self.position]), sizes[self.position]
        last = self.position == len(sizes) - 1
        if not exact and whole.strides[axis] == 1 and not (start % LANES == 0 and (size % LANES == 0 or last)):
            return None
        return narrow(whole, axis, start, size)


def slices_of_concatenations(order: Iterable[RuntimeOperator]) -> dict[int, Slice]:
    """For each operand that is read once, by a concatenation: where it belongs."""
    slices = {}
    for op in order:
        if type(op.layer) is Cat:
            for position, operand in enumerate(op.inputs):
                if op.inputs.count(operand) == 1 and operand.index not in slices:
                    slices[operand.index] = Slice(op, position)
    return slices


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
    if planner.shapes.get(planner.op.outputs[0].index) == shape:
        whole = planner.concatenated(planner.op)
    else:
        whole = planner.image(shape) if len(shape) == 4 else planner.rows(shape)
    start = 0
    for part in found:
        place = narrow(whole, axis, start, part.shape[axis])
        if not same_memory(part, place):
            copy_into(planner, part, place)
        start += part.shape[axis]
    return [whole]


def same_memory(a: Value, b: Value) -> bool:
    """Whether two values of one shape are the same numbers; the stride of an axis of length 1 means nothing."""
    axes = zip(a.shape, a.strides, b.strides, strict=True)
    return a.storage is b.storage and a.start == b.start and all(s == t for size, s, t in axes if size > 1)


def narrow(value: Value, axis: int, start: int, size: int) -> Value:
    """A slice of a value, as a value."""
    index = (slice(None),) * axis + (slice(start, start + size),)
    return Value(value.storage, value.view[index])
