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
    placed: list[Storage] = []
    for storage in sorted(movable, key=lambda s: (-s.floats, s.first)):
        contemporaries = [other for other in placed if _meet(storage, other)]
        storage.offset = _lowest_gap(storage.floats, bottom, contemporaries)
        top = max(top, storage.offset + storage.floats)
        placed.append(storage)
    return top


def _meet(a: Storage, b: Storage) -> bool:
    assert a.first is not None
    assert b.first is not None
    return a.first <= b.last and b.first <= a.last


def _lowest_gap(floats: int, bottom: int, taken: list[Storage]) -> int:
    """The lowest offset from ``bottom`` on at which so many floats meet none of the taken storages."""
    offset = bottom
    for other in sorted(taken, key=lambda s: s.offset):
        if other.offset - offset >= floats:
            break
        offset = max(offset, other.offset + other.floats)
    return offset
