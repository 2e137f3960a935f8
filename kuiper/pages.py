"""Memory in pages of its own: untouched pages take none, and it goes back to the system as soon as it is dropped.

What ``malloc`` gives for some megabytes may be memory that was used before, which has to be filled with zeros anew, and
may lie between others, so that it stays with the process when it is freed. The weights of a model are dropped one by
one while the engine packs them; only in pages of their own does that make room.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = 64
"""Bytes of a cache line, and of the widest register."""

LARGE = 2 << 20
"""Bytes of a large page."""

LEAST = 1 << 17
"""Bytes from which on memory gets pages of its own; for less, they would be waste."""


def pages(size: int) -> np.ndarray:
    """So many zeros (uint8), in large pages where the system has them.

    >>> pages(1 << 20).shape
    (1048576,)

    Raises
    ------
    MemoryError
        If there is not enough.
    """
    if size < LEAST or not hasattr(mmap, "MAP_PRIVATE"):  # Windows
        return np.zeros(size, np.uint8)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size:,} bytes: {error.strerror}") from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without large pages
            room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, np.uint8)


class SlabAllocator:
    """Memory for many arrays, cut from slabs that ``new`` makes (uint8): each piece begins with a cache line.

    >>> slabs = SlabAllocator(lambda: pages(1 << 20))
    >>> [len(slabs.take(size)) for size in (3, 100)]
    [3, 100]
    """

    def __init__(self, new: Callable[[], np.ndarray]) -> None:
        self._new = new
        self._rest = np.empty(0, np.uint8)

    def take(self, size: int) -> np.ndarray:
        """So many bytes, at most a slab; from a new one where the rest of the last is too short."""
        taken = -(-size // LINE) * LINE
        if len(self._rest) <= taken:  # also at first, when what is left lies anywhere
            self._rest = self._new()
        piece, self._rest = self._rest[:size], self._rest[taken:]
        return piece
