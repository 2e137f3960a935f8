"""Memory for weights and activations: it begins with a cache line, and lies in large pages where the system has them.

All weights of a network are read in every run, from front to end. Where they come from main memory, small pages halve
the speed: prefetchers stop at the end of each page, and the table of addresses (TLB) holds too few of them:

    pages of 4 KiB    |w w|w w|w w|w w|w w|w w|...      a linear layer of one row, 67 MB of weights: 19 GB/s
    pages of 2 MiB    |w w w w w w w w w w w w ...                                                   42 GB/s

(Zen 4, one thread.) Linux gives large pages to who asks for them (``madvise``), in slabs that hold whole ones. One
layer's weights seldom fill one, so the weights of many layers share a slab. Activations do not: a plan's memory is
given back when the plan is dropped, and must not wait for weights beside it.

Source: Linux kernel documentation, "Transparent Hugepage Support".
"""

from __future__ import annotations

import mmap
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.address import address
from kuiper.locks import open_in_children
from kuiper.pages import LARGE, LINE, SlabAllocator, pages

if TYPE_CHECKING:
    from kuiper.layers.layer import Array

_SLAB = 8 << 20  # bytes that the weights of several layers share

_lock = threading.Lock()
open_in_children(sys.modules[__name__])


def aligned(floats: int) -> Array:
    """Memory for this many floats, in large pages if it fills most of one."""
    if 4 * floats > LARGE // 2 and hasattr(mmap, "MADV_HUGEPAGE"):
        return _large(floats)
    return _starting_at(np.empty(floats + LINE // 4, np.float32), LINE)[:floats]


def for_weights(floats: int) -> Array:
    """Memory for the weights of one layer, beside those of others."""
    if 4 * floats > _SLAB // 2:
        return aligned(floats)
    with _lock:
        return _weights.take(4 * floats).view(np.float32)


_weights = SlabAllocator(lambda: aligned(_SLAB // 4).view(np.uint8))
"""Where the weights of several layers lie."""


def _large(floats: int) -> Array:
    """Memory of its own that begins with a large page; what nobody touches takes no memory."""
    return _starting_at(pages(4 * floats + LARGE).view(np.float32), LARGE)[:floats]


def _starting_at(memory: Array, multiple: int) -> Array:
    """The part of it from the first address on that is a multiple."""
    return memory[-address(memory) % multiple // 4 :]
