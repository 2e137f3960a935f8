"""Concatenations that cost nothing, since their parts are written to their places at once.

    before   conv a -> A        A | B copied to C        after   C: |  a  |  b  |
             conv b -> B                                              ^conv a writes here

A part can be a slice of the whole if it is read by this one concatenation only in this place, and if its kernel, which
writes whole vectors, does not reach into its neighbour: along the channels each part but the last has whole vectors of
them. Parts that cannot are copied.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.values import Value, narrow
from kuiper.layers.operators.cat import Cat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.graph.runtime_operator import RuntimeOperator


@dataclass(frozen=True, slots=True)
class Slice:
    """An input of a concatenation: ``size`` entries of an axis of its output, from ``start`` on."""

    op: RuntimeOperator
    axis: int
    start: int
    size: int
    is_last: bool

    def part(self, whole: Value, exact: bool) -> Value | None:
        """The slice of ``whole``, or None where whole vectors written to it would reach into the next part.

        An ``exact`` kernel writes no more than there is.
        """
        fills_vectors = self.start % LANES == 0 and (self.size % LANES == 0 or self.is_last)
        if not exact and whole.strides[self.axis] == 1 and not fills_vectors:
            return None
        return narrow(whole, self.axis, self.start, self.size)


def slices_of_concatenations(order: Iterable[RuntimeOperator], shapes: dict[int, tuple[int, ...]]) -> dict[int, Slice]:
    """For each operand that is read once, by a concatenation: where it belongs. ``shapes`` are those of operands."""
    slices: dict[int, Slice] = {}
    for op in order:
        if type(op.layer) is not Cat:
            continue
        whole = shapes.get(op.outputs[0].index, ())
        parts = [shapes.get(operand.index, ()) for operand in op.inputs]
        if not whole or any(len(part) != len(whole) for part in parts):
            continue
        axis, times, start = op.layer.dim % len(whole), Counter(op.inputs), 0
        if any(_across(part, axis) != _across(whole, axis) for part in parts):
            continue  # what goes with each of several images is no slice
        for position, (operand, part) in enumerate(zip(op.inputs, parts, strict=True), 1):
            if times[operand] == 1 and operand.index not in slices:
                slices[operand.index] = Slice(op, axis, start, part[axis], position == len(parts))
            start += part[axis]
    return slices


def _across(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The sizes of the other axes."""
    return (*shape[:axis], *shape[axis + 1 :])
