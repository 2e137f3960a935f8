"""What the machine can do at best, for the roofline: operations of one core, and bytes from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.clock import cycles_per_nanosecond
from kuiper.engine.cost import for_kernels, products_per_cycle
from kuiper.explore.arrays import number
from kuiper.machine import this_machine
from kuiper.machine.stopwatch import seconds_of

if TYPE_CHECKING:
    from kuiper.explore.arrays import Table

_FLOATS, _TRIALS = 1 << 23, 3  # 32 MB: more than caches hold


def machine_table(threads: int) -> Table:
    """CPU, threads, clock, peak in GFLOP/s of one core, and bandwidth in GB/s, measured now.

    >>> sorted(machine_table(1))
    ['bandwidth', 'cores', 'cpu', 'gigahertz', 'peak', 'threads']
    """
    machine, gigahertz = for_kernels(this_machine()), cycles_per_nanosecond()
    return {
        "cpu": machine.name,
        "cores": machine.cores,
        "threads": threads,
        "gigahertz": number(gigahertz),
        "peak": number(2 * products_per_cycle(machine) * machine.lanes * gigahertz),
        "bandwidth": number(_bandwidth()),
    }


def _bandwidth() -> float:
    """Bytes of a copy, read and written, per nanosecond: the best of some trials, by one thread."""
    source, target = np.ones(_FLOATS, np.float32), np.zeros(_FLOATS, np.float32)
    best = min(seconds_of(lambda: np.copyto(target, source)) for _ in range(_TRIALS))
    return 2 * source.nbytes / best * 1e-9
