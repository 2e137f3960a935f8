"""How much of the machine a submission gets."""

from __future__ import annotations

from dataclasses import dataclass

GIGABYTE = 1024**3


@dataclass(frozen=True)
class Limits:
    """What one submission's processes may use: each of them, or together where the grader can watch (on Linux)."""

    memory: int = 4 * GIGABYTE
    cpu_seconds: int = 300
    processes: int = 128
    file_bytes: int = GIGABYTE // 4
    disk: int = GIGABYTE
    files: int = 20_000
