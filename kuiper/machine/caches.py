"""The caches of this machine; above all a core's second-level cache, by which the planner measures images and weights.

The operating system is asked. Cores of unlike kinds count as the smallest of them. A cache that several cores share
counts by the part of one core.
"""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

UNKNOWN = {1: 32 << 10, 2: 512 << 10, 3: 0}
"""Bytes of each level where the system does not tell: no core with vector registers worth speaking of has much less."""

BOUNDS = {1: (16 << 10, 1 << 20), 2: (256 << 10, 4 << 20), 3: (0, 1 << 40)}
"""The least and the most bytes of each level that are believed."""


def core_caches() -> tuple[int, int, int]:
    """Bytes of the first-, second- and third-level cache that one core has for data; 0 of a third one that is unknown.

    >>> l1, l2, l3 = core_caches()
    >>> l1 < l2
    True
    """
    seen = [cache for cache in caches_of("cpu[0-9]*") if cache.kind != "Instruction"]
    sizes = []
    for level, (least, most) in BOUNDS.items():
        parts = [cache.part for cache in seen if cache.level == level]
        parts = parts or _from_sysctl(level) or _from_sysconf(level) or [UNKNOWN[level]]
        sizes.append(min(max(min(parts), least), most))
    return sizes[0], sizes[1], sizes[2]


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


def _count(cpus: str) -> int:
    """How many numbers a list like ``0-3,8`` has.

    >>> _count("0-3,8")
    5
    """
    ends = [part.split("-") for part in cpus.strip().split(",")]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def _from_sysctl(level: int) -> list[int]:
    """macOS: of the fast cores, some of which share a second-level cache."""
    names = {1: ["hw.perflevel0.l1dcachesize"], 2: ["hw.perflevel0.l2cachesize", "hw.perflevel0.cpusperl2"]}
    if platform.system() != "Darwin" or level not in names:
        return []
    command = ["sysctl", "-n", *names[level]]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    if len(answer) != len(names[level]):
        return []
    size, *sharing = map(int, answer)
    return [size // max([1, *sharing])]


def _from_sysconf(level: int) -> list[int]:
    """What the C library knows; 0 where it does not. It does not say who shares a third-level cache."""
    names = {1: "SC_LEVEL1_DCACHE_SIZE", 2: "SC_LEVEL2_CACHE_SIZE"}
    try:
        return [size] if level in names and (size := os.sysconf(names[level])) > 0 else []
    except (AttributeError, ValueError, OSError):
        return []
