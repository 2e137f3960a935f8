"""What a process holds: memory, files and threads; and less memory than it would have."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import os
import resource
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


class HeapFigures(ctypes.Structure):
    """What ``mallinfo2`` returns: numbers of bytes and of blocks, of all heaps together."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


C_LIBRARY = ctypes.CDLL(None)


M_THRESHOLDS = (-1, -3)  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h


BALLAST = 256 << 10


"""Bytes of a piece of the memory that is taken away before a call with little memory."""


@contextlib.contextmanager
def no_more_memory_than(rest: int) -> Iterator[None]:
    """So many bytes of address space are left within this block."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now, before[1]))
    ballast = []
    try:
        with contextlib.suppress(MemoryError):  # what malloc has kept of the address space would be more than the rest
            while True:
                ballast.append(np.empty(BALLAST, np.uint8))
        resource.setrlimit(resource.RLIMIT_AS, (now + rest, before[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def keep_no_freed_memory() -> None:
    """Let malloc give back what is freed, from now on.

    More is resident than is in use: glibc keeps freed memory for the next call, in one heap for each of up to eight
    threads per core. Once a program has freed a large array, glibc keeps up to 64 MB at the end of each heap, and
    ``malloc_trim`` gives back the end of the main heap only. Three callers in ever new threads made 38 MB more resident
    within 50 seconds, while 3 MB more were in use. So malloc's two thresholds stay what they are at first (128 KiB):
    what is freed is then given back at once, and both figures show a leak.
    """
    for parameter in M_THRESHOLDS:
        C_LIBRARY.mallopt(parameter, 128 << 10)


def measure() -> dict[str, int]:
    """What this process holds now."""
    gc.collect()
    C_LIBRARY.malloc_trim(0)
    count = C_LIBRARY.mallinfo2
    count.restype = HeapFigures
    heap = count()
    mapped = sum(len(kept) for kept in gc.get_objects() if issubclass(type(kept), mmap.mmap) and not kept.closed)
    return {
        "in use": heap.uordblks + heap.hblkhd + mapped,
        "resident": int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize(),
        "python blocks": sys.getallocatedblocks(),
        "files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "python threads": threading.active_count(),
    }


def in_words(sample: dict[str, int]) -> str:
    """One line of the table."""
    in_use, resident, *others = sample.values()
    words = zip(others, list(sample)[2:], strict=True)
    return "  ".join(
        [f"{in_use / 2**20:6.1f} MB in use", f"{resident >> 20:4d} MB resident", *(f"{n} {name}" for n, name in words)]
    )
