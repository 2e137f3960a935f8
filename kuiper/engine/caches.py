"""The caches of this machine; above all a core's second-level cache, by which the planner measures images and weights.

The operating system is asked, nothing is timed, so that one machine always gets the same plan. Cores of unlike kinds
count as the smallest of them. A cache that several cores share counts by the part of one core.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

UNKNOWN = 512 << 10
"""Bytes where the system does not tell: no core that has vector registers worth speaking of has much less."""

LEAST, MOST = 256 << 10, 4 << 20
"""Bytes that any answer is kept within."""


@functools.cache
def second_level_floats() -> int:
    """float32 numbers that one core's second-level cache holds.

    >>> LEAST // 4 <= second_level_floats() <= MOST // 4
    True
    """
    sizes = _from_sysfs() or _from_sysctl() or _from_sysconf() or [UNKNOWN]
    return min(max(min(sizes), LEAST), MOST) // 4


class Cache(NamedTuple):
    """A cache as one CPU sees it: its level, what it is for ("Data", "Instruction", "Unified"), and its size in bytes.

    ``part`` is what of it one core has, if cores share it.
    """

    level: int
    kind: str
    size: int
    part: int


def caches_of(cpu: str) -> list[Cache]:
    """Linux: the caches that these CPUs reach, "cpu0" or all of a pattern; none where the system does not tell."""
    found = []
    for entry in sorted(_CPUS.glob(f"{cpu}/cache/index[0-9]*")):
        try:
            level, kind, size = ((entry / name).read_text().strip() for name in ("level", "type", "size"))
            sharing = _count((entry / "shared_cpu_list").read_text())
            threads = _count((entry.parents[1] / "topology" / "thread_siblings_list").read_text())
            whole = int(size[:-1]) * _UNITS[size[-1]]
            found.append(Cache(int(level), kind, whole, whole * min(threads, sharing) // sharing))
        except (OSError, ValueError, KeyError):  # a container may show a part of these files only
            continue
    return found


def _from_sysfs() -> list[int]:
    """Linux: each core's part, in bytes."""
    return [cache.part for cache in caches_of("cpu[0-9]*") if cache.level == 2]


def _count(cpus: str) -> int:
    """How many numbers a list like ``0-3,8`` has.

    >>> _count("0-3,8")
    5
    """
    ends = [part.split("-") for part in cpus.strip().split(",")]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def _from_sysctl() -> list[int]:
    """macOS: the fast cores' cache, shared by some of them."""
    if platform.system() != "Darwin":
        return []
    names = ["hw.perflevel0.l2cachesize", "hw.perflevel0.cpusperl2"]
    answer = subprocess.run(["sysctl", "-n", *names], capture_output=True, text=True, check=False).stdout.split()
    return [int(answer[0]) // max(int(answer[1]), 1)] if len(answer) == 2 else []


def _from_sysconf() -> list[int]:
    """What the C library knows; 0 where it does not."""
    try:
        return [size] if (size := os.sysconf("SC_LEVEL2_CACHE_SIZE")) > 0 else []
    except (AttributeError, ValueError, OSError):
        return []
