"""Where in one arena each storage goes, so that storages that are never needed at the same time share memory.

        floats
    ^  |        +-----------------+
    |  |        | c               |       a is read for the last time by step 1: d may lie where a was
    |  |  +-----+-----------+     |
    |  |  | b               |-----+
    |  |  +-----------+-----+
    |  |  | a   |     | d         |
    +--+--+-----+-----+-----------+---> steps

Large storages choose first, and each takes the lowest place where it meets no other of its time. This is the usual
heuristic for an NP-hard problem, and within a few percent of the bound (the largest sum of storages alive at once) for
real networks.

Source: Y. Pisarchyk, J. Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020 (greedy by size).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.engine.values import Storage


def place(storages: Iterable[Storage]) -> int:
    """Set the ``offset`` of every storage; returns how many floats the arena needs.

    Constants come first and share with nobody.

    >>> from kuiper.engine.values import Storage
    >>> a, b, c = Storage(64), Storage(32), Storage(64)
    >>> for storage, steps in ((a, (0, 1)), (b, (1, 2)), (c, (2, 3))):
    ...     for step in steps:
    ...         storage.used_by(step)
    >>> place([a, b, c]), a.offset, b.offset, c.offset
    (96, 0, 64, 0)
    """
    bottom = 0
    movable = []
    for storage in storages:
        if storage.contents is not None:
            storage.offset = bottom
            bottom += storage.floats
        elif storage.first is not None:
            movable.append(storage)
    top = bottom
    timeline = Timeline(1 + max((storage.last for storage in movable), default=0))
    for storage in sorted(movable, key=lambda s: (-s.floats, s.first)):
        assert storage.first is not None
        storage.offset = timeline.lowest_gap(storage.first, storage.last, bottom, storage.floats)
        end = storage.offset + storage.floats
        timeline.take(storage.first, storage.last, storage.offset, end)
        top = max(top, end)
    return top
