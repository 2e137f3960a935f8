"""The machine that models are planned for: the one description that the rest of kuiper works by.

    machine.py       Machine, and the one that ``kuiper.load(..., reproducible=True)`` chooses algorithms for
    detection.py     this machine, described once: by the build, the CPU and the operating system
    statement.py     "l2=256K cores=4": another machine, stated in the environment or in code
    levels.py        which build of the compiled modules this CPU runs
    build.pyx        what the modules of a level were compiled for
    cpuid.pyx        what the CPU has; made for any CPU
    webassembly.py   the same of a browser, or of node
    caches.py, name.py   what the operating system tells
    stopwatch.py     how long a call takes, on any clock

Nothing outside of this package asks the system or the CPU. It imports nothing of kuiper but the errors, and no compiled
module before the level is chosen.
"""

from __future__ import annotations

from kuiper.machine.detection import this_machine
from kuiper.machine.machine import REPRODUCIBLE, Machine
from kuiper.machine.statement import described, facts_of, stated

__all__ = ["REPRODUCIBLE", "Machine", "described", "facts_of", "stated", "this_machine"]
