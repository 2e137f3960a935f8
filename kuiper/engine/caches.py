"""How large a core's second-level cache is: what the planner measures images and weights by.

The operating system is asked, nothing is timed, so that one machine always gets the same plan. Cores of unlike kinds
count as the smallest of them. A cache that several cores share counts by the part of one core.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"K": 1 << 10, "M": 1 << 20}

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
    sizes = _from_sysfs(_CPUS) or _from_sysctl() or _from_sysconf() or [UNKNOWN]
    return min(max(min(sizes), LEAST), MOST) // 4


def _from_sysfs(cpus: Path) -> list[int]:
    """Linux: each core's part, in bytes."""
    sizes = []
    for entry in sorted(cpus.glob("cpu[0-9]*/cache/index[0-9]*")):
        try:
            if (entry / "level").read_text().strip() == "2":
                size = (entry / "size").read_text().strip()
                sharing = _count((entry / "shared_cpu_list").read_text())
                threads = _count((entry.parents[1] / "topology" / "thread_siblings_list").read_text())
                sizes.append(int(size[:-1]) * _UNITS[size[-1]] * min(threads, sharing) // sharing)
        except (OSError, ValueError, KeyError):  # a container may show a part of these files only
            continue
    return sizes


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
