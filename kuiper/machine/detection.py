"""This machine, described once in a process. Nothing is timed, so that one machine always gets the same plan."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from pathlib import Path

from kuiper.machine.caches import core_caches
from kuiper.machine.levels import all_levels, cpu_features, running_level, splits_avx512
from kuiper.machine.machine import Machine
from kuiper.machine.name import cpu_name
from kuiper.machine.statement import stated

CLOCK_FILE = Path("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
"""Where Linux says how fast a core may become, in kHz; few virtual machines have it."""


@functools.cache
def this_machine() -> Machine:
    """The machine that this process runs on, or the one that the variable KUIPER_MACHINE states.

    Raises
    ------
    ParameterError
        If KUIPER_MACHINE cannot be meant, or wants what this machine lacks.

    Examples
    --------
    >>> this_machine().cores >= 1
    True
    """
    return stated(detect(), os.environ.get("KUIPER_MACHINE", ""), "KUIPER_MACHINE")


def detect() -> Machine:
    """The machine as the build, the CPU and the operating system describe it."""
    from kuiper.machine.build import LANES, REGISTERS, VNNI  # of the level that has been chosen

    used = {*all_levels()[running_level()]["requires"], VNNI}
    l1, l2, l3 = core_caches()
    return Machine(
        name=cpu_name(),
        level=running_level(),
        lanes=LANES,
        registers=REGISTERS,
        features=frozenset(used & (cpu_features() or frozenset())),
        l1=l1,
        l2=l2,
        l3=l3,
        cores=allowed_cores(),
        clock=highest_clock(),
        splits_avx512=LANES == 16 and splits_avx512(),
    )


def allowed_cores() -> int:
    """The cores that this process may run on (a container or ``taskset`` may allow fewer than the machine has)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def highest_clock(clock_file: Path = CLOCK_FILE) -> int | None:
    """How fast a core may become, in Hz; None where the system does not tell."""
    try:
        hertz = int(clock_file.read_text(encoding="ascii")) * 1000
    except (OSError, ValueError):
        hertz = _clock_of_macos() if platform.system() == "Darwin" else 0
    return hertz if 10**8 <= hertz <= 10**11 else None


def _clock_of_macos() -> int:
    """Of Macs with Intel's CPUs; 0 on others."""
    command = ["sysctl", "-n", "hw.cpufrequency_max"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return int(answer) if answer.isdigit() else 0
