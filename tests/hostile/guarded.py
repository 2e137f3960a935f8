"""A process that may have 8 GiB and little time for each of its cases, and says which it was at when it died."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.hostile.sweep import Case

ROOT = Path(__file__).parents[2]
MEMORY = 8 << 30
TENSOR = 64 << 20
"""The limit on one tensor in such a process: its cases are many, and what they may allocate takes time."""

SECONDS = 60
"""For one case, which takes a hundredth of a second: the machine may be busy."""


def complaints(arguments: list[str]) -> tuple[int, list[str]]:
    """How many cases ``python -m tests.hostile.sweep --worker`` went through, and what was wrong.

    A case at which the process dies or takes too long is wrong; another process goes on behind it.
    """
    found: list[str] = []
    at = 0
    while True:
        lines = list(_lines([*arguments, "--from", str(at)]))
        found += [line.split("\t", 1)[1] for line in lines if line.startswith("wrong\t")]
        if lines and lines[-1].startswith("done\t"):
            return int(lines[-1].split("\t")[1]), found
        begun = [line.split("\t") for line in lines if line.startswith("case\t")]
        if not begun:
            return at, [*found, "the process ended before its first case"]
        at = int(begun[-1][1]) + 1
        found.append(f"{begun[-1][2]}: the process died or took too long")


def _lines(arguments: list[str]) -> Iterator[str]:
    """What the process writes, until it ends or is silent for too long."""
    command = [sys.executable, "-m", "tests.hostile.sweep", "--worker", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdout is not None
    timer = threading.Timer(SECONDS, process.kill)
    timer.start()
    try:
        for line in process.stdout:
            timer.cancel()
            timer = threading.Timer(SECONDS, process.kill)
            timer.start()
            yield line.rstrip("\n")
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def work(cases: Iterator[Case], first: int, check: Callable[[Case], str]) -> None:
    """Go through the cases from this one on, in the process itself."""
    import kuiper

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError):  # a system that has no such limit
        pass
    kuiper.set_tensor_limit(TENSOR)
    count = 0
    for count, case in enumerate(cases, 1):
        if count <= first:
            continue
        print(f"case\t{count - 1}\t{case.label}", flush=True)
        if wrong := check(case):
            print(f"wrong\t{case.label}: {wrong}".replace("\n", " "), flush=True)
    print(f"done\t{count}", flush=True)
