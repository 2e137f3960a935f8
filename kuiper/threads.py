"""How many threads a kernel may use: one number for the whole process."""

from __future__ import annotations

import os

from kuiper.errors import ParameterError


def available_cores() -> int:
    """The cores that this process may run on (a container or ``taskset`` may allow fewer than the machine has)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Below this many steps of an inner loop, waking a second thread costs more than it saves.
_PARALLEL_FROM = 1 << 16

MOST_THREADS = 1024
"""No kernel is cut into more; the engine's pool has room for so many (``KUIPER_MOST_THREADS`` in engine/team.pxd)."""

_num_threads = min(available_cores(), MOST_THREADS)


def get_num_threads() -> int:
    """The number of threads that kernels may use.

    At first all cores that this process may run on; one in a process that was made by ``os.fork``.
    """
    return _num_threads


def set_num_threads(n: int) -> None:
    """Let kernels use ``n`` threads from the next call on; more than there are cores make nothing faster.

    Raises
    ------
    ParameterError
        If ``n`` is not a whole number from 1 to 1024.
    """
    global _num_threads
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST_THREADS:
        raise ParameterError("set_num_threads", f"a whole number from 1 to {MOST_THREADS}", repr(n))
    _num_threads = n


def threads_for(steps: int) -> int:
    """How many threads a kernel gets for so many steps of its inner loop: one for small work, else all."""
    return _num_threads if steps >= _PARALLEL_FROM else 1


def _compute_alone() -> None:
    """A forked process has none of the threads that OpenMP had started; GNU's library would wait for them forever."""
    global _num_threads
    _num_threads = 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compute_alone)
