"""The processes that a submission starts: seen, counted and ended, also those that tried to get away."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator

    from kuiper.course.limits import Limits

GUARD_SECONDS = 0.05
DISK_SECONDS = 1.0
TRIES = 200
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
IS_LINUX = sys.platform == "linux"


def process_control(option: int, value: int) -> None:
    """prctl(2); nothing where there is none."""
    if IS_LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """From now on a child's child whose parent has gone becomes this process's own, and can be found."""
    process_control(PR_SET_CHILD_SUBREAPER, 1)


@contextlib.contextmanager
def unreadable() -> Iterator[None]:
    """While this lasts, other processes of this user can neither read this one's memory nor trace it."""
    process_control(PR_SET_DUMPABLE, 0)
    try:
        yield
    finally:
        process_control(PR_SET_DUMPABLE, 1)


def descendants(pid: int) -> set[int]:
    """The processes below one that still run, from /proc; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc") if IS_LINUX else ():
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                text = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
                state, parent = text.rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    children.setdefault(int(parent), []).append(int(entry))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


def seconds_without_core(pid: int, below: Iterable[int]) -> float:
    """How long a process, or one below it, was ready to run while others had all cores; 0 where nobody counts.

    Linux counts it for each process; it is that of the one that waited longest. To find those below takes longer than
    most calls of a student's function, so they are handed over.
    """
    waited = 0
    for each in (pid, *below):
        with contextlib.suppress(OSError, ValueError, IndexError):
            waited = max(waited, int(Path("/proc", str(each), "schedstat").read_text(encoding="utf-8").split()[1]))
    return waited / 1e9


def end_below(pid: int) -> None:
    """End all processes below one. They are stopped before they are killed, so that none starts others meanwhile."""
    for _ in range(TRIES):
        below = descendants(pid)
        if not below:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for child in below:
                with contextlib.suppress(OSError):
                    os.kill(child, number)
        if pid == os.getpid():
            _bury()
        time.sleep(0.002)


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started."""
    if IS_LINUX and process.poll() is None:
        with contextlib.suppress(OSError):
            process.send_signal(signal.SIGSTOP)
        end_below(process.pid)
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            if os.getpgid(process.pid) != os.getpgid(0):
                os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _bury() -> None:
    """Take note of the end of adopted orphans: they would stay as zombies."""
    with contextlib.suppress(OSError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def guard(limits: Limits, scratch: Path) -> Callable[[subprocess.Popen[bytes]], None] | None:
    """Watches over what the kernel does not limit: the memory and number of all processes together, and the disk."""
    if not IS_LINUX:
        return None

    def watch(process: subprocess.Popen[bytes]) -> None:
        last = time.monotonic()
        while process.poll() is None:
            below = descendants(process.pid)
            is_over = len(below) > limits.processes or sum(map(_resident, below)) > limits.memory
            if time.monotonic() - last > DISK_SECONDS:
                last = time.monotonic()
                is_over = is_over or not _is_small(scratch, limits)
            if is_over:
                end_below(process.pid)
                process.kill()  # and with it all that lives in its namespace
            time.sleep(GUARD_SECONDS)

    return lambda process: threading.Thread(target=watch, args=(process,), daemon=True).start()


def _resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc", str(pid), "statm").read_text(encoding="utf-8").split()[1]) * PAGE
    return 0


def _is_small(folder: Path, limits: Limits) -> bool:
    """Whether a folder holds no more than it may; links are not followed."""
    count = size = 0
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += entry.stat(follow_symlinks=False).st_size
                    if count > limits.files or size > limits.disk:
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:  # gone meanwhile
            continue
        except OSError as error:  # not readable, or nested deeper than a path can be long
            if error.errno not in (13, 20):
                return False
    return True
