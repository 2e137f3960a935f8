"""Where in one arena each buffer goes, so that buffers that are never needed at the same time share memory.

        floats
    ^  |        +-----------------+
    |  |        | c               |       a is read for the last time by step 1: d may lie where a was
    |  |  +-----+-----------+     |
    |  |  | b               |-----+
    |  |  +-----------+-----+
    |  |  | a   |     | d         |
    +--+--+-----+-----+-----------+---> steps

Large buffers choose first, and each takes the lowest place where it meets no other of its time. This is the usual
heuristic for an NP-hard problem, and within a few percent of the bound (the largest sum of buffers alive at once) for
real networks.

Source: Y. Pisarchyk, J. Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020 (greedy by size).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kuiper.engine.planned_step import Lifetime
    from kuiper.engine.values import Buffer


def place_buffers(buffers: Iterable[Buffer], lifetimes: Mapping[Buffer, Lifetime]) -> int:
    """Set the ``offset`` of every buffer that is needed; returns how many floats the arena needs.

    Constants come first and share with nobody.

    >>> from kuiper.engine.planned_step import Lifetime
    >>> from kuiper.engine.values import Buffer
    >>> a, b, c = Buffer(64), Buffer(32), Buffer(64)
    >>> place_buffers([a, b, c], {a: Lifetime(0, 1), b: Lifetime(1, 2), c: Lifetime(2, 3)})
    96
    >>> a.offset, b.offset, c.offset
    (0, 64, 0)
    """
    bottom = 0
    movable = []
    for buffer in buffers:
        if buffer.contents is not None:
            buffer.offset = bottom
            bottom += buffer.floats
        elif buffer in lifetimes:
            movable.append(buffer)
    top = bottom
    timeline = Timeline(1 + max((lifetimes[buffer].last for buffer in movable), default=0))
    for buffer in sorted(movable, key=lambda each: (-each.floats, lifetimes[each].first)):
        first, last = lifetimes[buffer]
        buffer.offset = timeline.lowest_gap(first, last, bottom, buffer.floats)
        end = buffer.offset + buffer.floats
        timeline.take(first, last, buffer.offset, end)
        top = max(top, end)
    return top
