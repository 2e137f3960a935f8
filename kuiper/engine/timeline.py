"""Which places of the arena are taken while: a segment tree over the steps of a plan.

Each node stands for a run of steps, the root for all of them, a leaf for one. A buffer that is needed from step 2 to 5
of 8 is noted at the two largest nodes that make up these steps:

    0 1 2 3 4 5 6 7          own[node]     places taken during all steps of the node, noted there
    0 1 2 3|4 5 6 7          below[node]   places taken during any step of the node: noted there or further down
    0 1|2*3|4*5|6 7

So a question about some steps looks at a few nodes, however many buffers there are. Buffers that follow each other in
memory and in time, as those of networks do, become one interval of a node, so that planning takes a time that grows
hardly faster than the graph.

Source: M. de Berg et al., "Computational Geometry", chapter on segment trees.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Places:
    """Intervals that are taken, none of which touch: neighbours become one."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, start: int, end: int) -> None:
        """Take from ``start`` to before ``end``."""
        first, behind = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < behind:
            start, end = min(start, self._starts[first]), max(end, self._ends[behind - 1])
        self._starts[first:behind] = [start]
        self._ends[first:behind] = [end]

    def behind(self, start: int, end: int) -> int:
        """Where the first taken interval ends that lies in the way; ``start`` if there is none."""
        index = bisect_right(self._ends, start)
        taken = index < len(self._ends) and self._starts[index] < end
        return self._ends[index] if taken else start


class Timeline:
    """The places that are taken during this many steps."""

    def __init__(self, steps: int) -> None:
        self._leaves = 1 << max(steps - 1, 0).bit_length()
        self._own: dict[int, Places] = {}
        self._below: dict[int, Places] = {}

    def take(self, first: int, last: int, start: int, end: int) -> None:
        """Take from ``start`` to before ``end`` in the steps ``first`` to ``last``."""
        nodes = list(self._nodes(first, last))
        for node in nodes:
            self._own.setdefault(node, Places()).take(start, end)
        for node in {*nodes, *_above(nodes)}:
            self._below.setdefault(node, Places()).take(start, end)

    def lowest_gap(self, first: int, last: int, bottom: int, length: int) -> int:
        """The lowest place from ``bottom`` on with this many free floats in the steps ``first`` to ``last``.

        >>> timeline = Timeline(3)
        >>> timeline.take(0, 1, start=0, end=64)
        >>> timeline.lowest_gap(1, 2, 0, 32), timeline.lowest_gap(2, 2, 0, 32)
        (64, 0)
        """
        nodes = list(self._nodes(first, last))
        taken = [self._below[node] for node in nodes if node in self._below]
        taken += [self._own[node] for node in _above(nodes) if node in self._own]
        place, before = bottom, -1
        while place != before:
            before = place
            for places in taken:
                place = places.behind(place, place + length)
        return place

    def _nodes(self, first: int, last: int) -> Iterator[int]:
        """The largest nodes that together stand for these steps; node i is made of 2 i and 2 i + 1, the root is 1."""
        low, high = first + self._leaves, last + self._leaves + 1
        while low < high:
            if low % 2:
                yield low
                low += 1
            if high % 2:
                high -= 1
                yield high
            low, high = low // 2, high // 2


def _above(nodes: list[int]) -> set[int]:
    """All nodes of which these are a part."""
    found: set[int] = set()
    for node in nodes:
        while (node := node // 2) and node not in found:
            found.add(node)
    return found
