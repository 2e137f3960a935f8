"""What makes the times of a race say something: one thread for everybody, and a look at who else has the cores.

Threads of two libraries fight for busy cores: with as many threads of NumPy's BLAS as there are cores, a network that
needs 5 ms took 320 ms on two busy ones. On one thread all rows of the ladder have the same chance.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import kuiper
from kuiper import machine
from kuiper.course.processes import seconds_without_core
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Variables for a process that is to compute on one thread. The libraries read them when they are loaded."""

BUSY = 0.1  # of the time


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this block, kuiper computes on one thread."""
    threads = kuiper.get_num_threads()
    kuiper.set_num_threads(1)
    try:
        yield
    finally:
        kuiper.set_num_threads(threads)


def own_wait() -> float:
    """How long this process was ready to run while others had the cores, in seconds since it began."""
    return seconds_without_core(os.getpid(), ())


def watch_the_cores(waits: Callable[[], float] = own_wait) -> Callable[[], str]:
    """Begin to watch; what is returned says in words how busy the machine has been since, or "".

    ``waits`` tells how long the process that is timed has waited for a core.
    """
    began, before = time.perf_counter(), waits()

    def words() -> str:
        waited, seconds = waits() - before, time.perf_counter() - began
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return busy_words(waited, seconds, load, machine.this_machine().cores)

    return words


def busy_words(waited: float, seconds: float, load: float, cores: int) -> str:
    """Whether times can be trusted: "" if nobody else wanted the core.

    Parameters
    ----------
    waited : seconds in which this process was ready to run and had no core; 0 where the system does not count them
    seconds : how long it ran
    load : how many processes wanted to run in the last minute, this one among them
    cores : how many can

    >>> busy_words(waited=4.0, seconds=10.0, load=2.5, cores=2)
    'others had the core for 40% of the time'
    >>> busy_words(waited=0.0, seconds=10.0, load=5.2, cores=2)
    '5.2 processes wanted the 2 cores'
    >>> busy_words(waited=0.1, seconds=10.0, load=1.9, cores=2)
    ''
    """
    if waited > BUSY * seconds:
        words = _("others had the core for {share} of the time")
        return words.format(share=f"{min(waited / seconds, 1.0):.0%}")
    words = _("{count} processes wanted the {cores} cores")
    return words.format(count=f"{load:.1f}", cores=cores) if load - 1 >= cores else ""
