"""The walls around a submission's process: bubblewrap where present, else namespaces and limits.

What the code inside can do to the result is nothing in either case: it only ever answers with values, which are
compared elsewhere. The walls protect the machine, the other submissions and the solutions.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Mode = Literal["bubblewrap", "namespaces", "limits"]

GIGABYTE = 1024**3
GUARD_SECONDS = 0.05
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/opt")
STATEMENTS: dict[Mode, str] = {
    "bubblewrap": (
        "bubblewrap: no network, no other processes, a file system without solutions, tests and other submissions"
    ),
    "namespaces": (
        "light mode (no bubblewrap): no network, solutions and tests are hidden, other processes are not reached; but "
        "the rest of the file system can be read, and what you may write can be written. Install bubblewrap for real "
        "walls"
    ),
    "limits": (
        "limits only (neither bubblewrap nor user namespaces here): submissions can use the network, read every file "
        "that you can, the solutions among them, and write yours. Read the code first, or use a container"
    ),
}


@dataclass(frozen=True)
class Limits:
    """What one submission's process may use."""

    memory: int = 4 * GIGABYTE
    cpu_seconds: int = 300
    processes: int = 128
    file_bytes: int = GIGABYTE // 4


def guard(limits: Limits) -> Callable[[subprocess.Popen[str]], None] | None:
    """Watches over a started worker where the kernel does not: root is exempt from the limit on processes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None

    def watch(process: subprocess.Popen[str]) -> None:
        while process.poll() is None:
            if len(descendants(process.pid)) > limits.processes:
                process.kill()  # and with it all that lives in its namespace
            time.sleep(GUARD_SECONDS)

    return lambda process: threading.Thread(target=watch, args=(process,), daemon=True).start()


def descendants(pid: int) -> set[int]:
    """The processes below one, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                text = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
                after_name = text.rpartition(")")[2]
                children.setdefault(int(after_name.split()[1]), []).append(int(entry))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


@cache
def best_mode() -> Mode:
    """The strongest walls that work on this machine: each is tried, not only looked for."""
    if _works(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]):
        return "bubblewrap"
    if _works([*_unshare(), "true"]):
        return "namespaces"
    return "limits"


def worker_command(mode: Mode, home: Path, hidden: list[Path]) -> list[str]:
    """The command that starts a worker behind the walls; ``home`` is the one folder that it may write."""
    python = [sys.executable, "-m", "kuiper.course.worker"]
    if mode == "bubblewrap":
        return [*_bubblewrap(home, hidden), *python]
    if mode == "namespaces":
        covers = "".join(f"mount -t tmpfs -o ro none {_quoted(path)} && " for path in hidden)
        # A second user namespace without privileges: from inside it the covers cannot be lifted.
        return [*_unshare(), "sh", "-c", f'{covers}exec unshare --user -- "$@"', "sh", *python]
    return python


def environment(home: Path) -> dict[str, str]:
    """What a submission may know of the grader's environment: next to nothing."""
    package = str(Path(__file__).resolve().parents[2])
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": package,
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "KUIPER_CACHE": str(home),
    }


def apply(limits: Limits) -> Callable[[], None] | None:
    """What a new process does to itself before it becomes the worker; None where the platform has no such limits."""
    if sys.platform == "win32":
        return None
    import resource

    table = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NPROC: limits.processes + own_threads(),  # the kernel counts all that the user runs
        resource.RLIMIT_CORE: 0,
    }

    def limit() -> None:
        for name, value in table.items():
            hard = resource.getrlimit(name)[1]
            allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(name, (allowed, allowed))

    return limit


@cache
def own_threads() -> int:
    """How many threads this user runs already; 0 where that cannot be seen."""
    total = 0
    for path in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        with contextlib.suppress(OSError):
            if path.stat().st_uid == os.getuid():
                total += sum(1 for _ in path.joinpath("task").iterdir())
    return total


def _bubblewrap(home: Path, hidden: list[Path]) -> list[str]:
    """System, Python and this package read-only; everything else does not exist."""
    package = Path(__file__).resolve().parents[2] / "kuiper"
    folders = [*SYSTEM, sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"], str(package)]
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev"]
    words += ["--tmpfs", "/tmp"]
    for folder in dict.fromkeys(folders):
        words += ["--ro-bind-try", folder, folder]
    for path in hidden:
        if any(path.is_relative_to(folder) for folder in folders):
            words += ["--tmpfs", str(path)]
    return [*words, "--bind", str(home), str(home), "--chdir", str(home)]


def _unshare() -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child"]


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        return subprocess.run(command, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "'\\''") + "'"
