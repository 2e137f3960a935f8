"""The walls around a submission's process: bubblewrap where present, else namespaces and limits.

What the code inside can do to the result is nothing in either case: it only ever answers with values, which are
compared elsewhere. The walls protect the machine, the other submissions and the solutions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Mode = Literal["bubblewrap", "namespaces", "limits"]

GIGABYTE = 1024**3
NOBODY = 65534
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
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_CORE: 0,
    }

    def limit() -> None:
        for name, value in table.items():
            hard = resource.getrlimit(name)[1]
            allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(name, (allowed, allowed))

    return limit


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
