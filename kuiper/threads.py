"""How many threads a kernel may use: one number for the whole process."""

from __future__ import annotations

import mmap
import os

from kuiper.errors import ParameterError
from kuiper.machine import this_machine

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


# Below this many steps of an inner loop, waking a second thread costs more than it saves.
_PARALLEL_FROM = 1 << 16

MAX_THREADS = 1024
"""No kernel is cut into more; the engine's pool has no more (``KUIPER_MAX_THREADS`` in engine/thread_pool.h)."""

_num_threads = 0
"""What was asked for; 0, nothing so far: as many as there are cores."""

_openmp_started = False
"""Whether kernels have had several threads of OpenMP in this process, ..."""

_openmp_lost = False
"""... or in one that it was forked from."""

_ROOM_BESIDE_STACKS = 4 << 20  # bytes for all else that OpenMP needs to begin


def get_num_threads() -> int:
    """The number of threads that kernels may use.

    At first all cores of ``kuiper.machine.this_machine()``; one in a process that was made by ``os.fork``.
    """
    global _num_threads
    if not _num_threads:
        _num_threads = min(this_machine().cores, MAX_THREADS)
    return _num_threads


def set_num_threads(n: int) -> None:
    """Let kernels use ``n`` threads from the next call on; more than there are cores make nothing faster.

    Raises
    ------
    ParameterError
        If ``n`` is not an integer from 1 to 1024.
    """
    global _num_threads
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MAX_THREADS:
        raise ParameterError("set_num_threads", f"an integer from 1 to {MAX_THREADS}", repr(n))
    _num_threads = n


def threads_for(steps: int) -> int:
    """How many threads of OpenMP a layer's kernel gets for this many steps of its inner loop.

    One for small work, else all; but one in a forked process whose parent had several, and where there is not enough
    memory for their stacks: GNU's library would wait for the former forever, and ends the process without the latter.
    """
    global _openmp_started
    threads = get_num_threads()
    if steps < _PARALLEL_FROM or threads == 1 or _openmp_lost or not _is_room_for_stacks(threads - 1):
        return 1
    _openmp_started = True
    return threads


def _is_room_for_stacks(count: int) -> bool:
    """Whether the process may map this many more stacks; not asked of a process whose memory has no limit."""
    if resource is None or resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return True
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    if not 0 < stack < 1 << 30:
        stack = 8 << 20
    try:
        mmap.mmap(-1, count * stack + _ROOM_BESIDE_STACKS).close()
    except (OSError, OverflowError):
        return False
    return True


def _compute_alone() -> None:
    """A forked process has none of the threads that OpenMP had started."""
    global _num_threads, _openmp_lost
    _num_threads = 1
    _openmp_lost = _openmp_lost or _openmp_started


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compute_alone)
