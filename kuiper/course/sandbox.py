"""The sandbox around a submission's process: bubblewrap where present, else namespaces, else other rights and limits.

What the code inside can do to the result is nothing in the first two cases: it only ever answers with values, which are
compared elsewhere. The sandbox protects the machine, the grader, the other submissions and the solutions.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np

from kuiper.course.errors import CommandError
from kuiper.course.material import PACKAGED
from kuiper.course.phrases import phrase
from kuiper.course.processes import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, process_control
from kuiper.language import noop, translate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kuiper.course.limits import Limits

Mode = Literal["bubblewrap", "namespaces", "limits"]

SIGKILL = 9
SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
OTHER_USERS = (1 << 20, 1 << 30)  # where systems give no numbers to people
STATEMENTS: dict[Mode, str] = {
    "bubblewrap": noop(
        "bubblewrap: no network, no other processes, a read-only file system without solutions, tests and other "
        "submissions"
    ),
    "namespaces": noop(
        "light mode (Linux user namespaces, no bubblewrap): no network, no other processes, a read-only file system "
        "without solutions, tests and other submissions"
    ),
    "limits": noop(
        "limits only (neither bubblewrap nor user namespaces here): submissions can use the network and read every "
        "file that others can read, the solutions among them; {rights}. Read the code first, or use a container"
    ),
}
RIGHTS = {
    True: noop("they run as users of their own, who cannot write your files or reach your processes"),
    False: noop(
        "they run as you, and can change your files and the grader itself: when the checkout changes, grading stops "
        "and pays nothing"
    ),
}


@dataclass(frozen=True)
class Sandbox:
    """Where a worker lives: what it may read besides the system, where it may write, and what it must not see.

    ``covers`` maps files to others that are shown in their place. ``user`` is the number of the user that the worker
    becomes in the mode "limits" where the grader is root.
    """

    mode: Mode
    given: tuple[Path, ...]
    scratch: Path
    hidden: tuple[Path, ...] = ()
    covers: Mapping[Path, Path] = field(default_factory=dict)
    user: int | None = None

    def command(self) -> list[str]:
        """The command that starts a worker in this sandbox."""
        python = [sys.executable, "-s", "-m", "kuiper.course.worker"]
        if self.mode == "bubblewrap":
            return [*self._bubblewrap(), *python]
        if self.mode == "namespaces":
            root = self.scratch.parent / "root"
            root.mkdir(exist_ok=True)
            plan = {
                "root": str(root),
                "shown": self._shown(),
                "hidden": [str(path) for path in self._all_hidden()],
                "covers": {str(path): str(other) for path, other in self.covers.items()},
                "scratch": str(self.scratch),
            }
            launcher = str(Path(__file__).with_name("sandbox_root.py"))
            return [*_unshare(), sys.executable, "-I", "-S", launcher, json.dumps(plan), *python]
        return python

    def _shown(self) -> list[str]:
        """System, Python, this package, and what is given; everything else does not exist."""
        folders: list[str] = [*SYSTEM, sys.prefix, sys.base_prefix, *_libraries(), *_compiler_folders()]
        folders += [str(Path(__file__).resolve().parents[1]), *map(str, self.given)]
        folders += [str(Path(folder).resolve()) for folder in folders[len(SYSTEM) :]]
        shown: list[str] = []
        for folder in sorted(folders, key=len):
            if not any(Path(folder).is_relative_to(other) for other in shown):
                shown.append(folder)
        return shown

    def _all_hidden(self) -> list[Path]:
        """What must not be seen, as far as something shown holds it: the courses of any kuiper, and compiled covers."""
        packed = [Path(library, "kuiper", "course", "material") for library in _libraries()]
        compiled = [path.parent / "__pycache__" for path in self.covers]
        inside = [path.resolve() for path in (*self.hidden, PACKAGED, *packed, *compiled) if path.is_dir()]
        return [path for path in dict.fromkeys(inside) if any(path.is_relative_to(folder) for folder in self._shown())]

    def _bubblewrap(self) -> list[str]:
        words = ["bwrap", *_bubblewrap_options(), "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
        for folder in self._shown():
            words += ["--ro-bind-try", folder, folder]
        for path in self._all_hidden():
            words += ["--tmpfs", str(path), "--remount-ro", str(path)]
        for path, other in self.covers.items():
            words += ["--ro-bind", str(other), str(path)]
        scratch = str(self.scratch)
        return [*words, "--bind", scratch, scratch, "--remount-ro", "/", "--chdir", scratch]


def chosen_mode(asked: str | None) -> Mode:
    """The mode that was asked for, or the strongest that works.

    Raises
    ------
    CourseError
        If this machine cannot do what was asked for.
    """
    if not asked:
        return best_mode()
    if asked not in get_args(Mode) or not works(cast("Mode", asked)):
        known = ", ".join(mode for mode in get_args(Mode) if works(mode))
        raise CommandError("sandbox", phrase("one of those that work on this machine ({known})", known=known), asked)
    return cast("Mode", asked)


@cache
def best_mode() -> Mode:
    """The strongest sandbox that works on this machine: each is tried, not only looked for."""
    return next(mode for mode in get_args(Mode) if works(mode))


@cache
def works(mode: Mode) -> bool:
    """Whether a sandbox of this kind can be built here."""
    if mode == "bubblewrap":
        return _succeeds(["bwrap", *_bubblewrap_options(), "--ro-bind", "/", "/", "true"])
    return mode == "limits" or _succeeds([*_unshare(), "mount", "-t", "tmpfs", "none", "/tmp"])


def statement(mode: Mode) -> str:
    """What the sandbox of this mode keeps off, for the person who grades."""
    return translate(STATEMENTS[mode]).format(rights=translate(RIGHTS[not are_alike(mode)]))


def are_alike(mode: Mode) -> bool:
    """Whether submissions run with all the rights of the grader: no wall, and no other user to become."""
    return mode == "limits" and other_user() is None


def other_user() -> int | None:
    """The number of a user that nobody else is, if this process may become another one and Python still runs then."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    number = secrets.choice(range(*OTHER_USERS))
    return number if _others_can_run() else None


@cache
def _others_can_run() -> bool:
    """Whether Python and this package can be read by a user without rights."""
    words = [sys.executable, "-s", "-c", "import kuiper"]
    env = {**environment(Path("/nowhere"), "limits"), "PYTHONPATH": os.pathsep.join(_python_path())}
    try:
        done = subprocess.run(
            words, cwd="/", env=env, capture_output=True, timeout=60, user=OTHER_USERS[0], group=OTHER_USERS[0],
            extra_groups=[],
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def environment(scratch: Path, mode: Mode) -> dict[str, str]:
    """What a submission may know of the grader's environment: next to nothing."""
    private = (
        {"PYTHONPYCACHEPREFIX": str(scratch / "pycache")} if mode == "limits" else {}
    )  # others may write the usual
    return {
        **private,
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join(_python_path()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "KUIPER_CACHE": str(scratch),
        "KUIPER_STATE": str(scratch / "state"),
    }


def prepared(limits: Limits, mode: Mode, user: int | None = None) -> Callable[[], None] | None:
    """What a new process does to itself before it becomes the worker; None where the platform has no such limits."""
    if sys.platform == "win32":
        return None
    import resource

    table = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NPROC: limits.processes + (0 if user else own_threads()),  # the kernel counts the user's all
        resource.RLIMIT_CORE: 0,
    }

    def prepare() -> None:
        os.setsid()
        for name, value in table.items():
            hard = resource.getrlimit(name)[1]
            allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(name, (allowed, allowed))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        if mode == "limits":  # the sandbox does so itself, once nothing of it needs privileges any more
            process_control(PR_SET_NO_NEW_PRIVS, 1)
        process_control(PR_SET_PDEATHSIG, SIGKILL)

    return prepare


@cache
def own_threads() -> int:
    """How many threads this user runs already; 0 where that cannot be seen."""
    total = 0
    for path in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        try:
            if path.stat().st_uid == os.getuid():
                total += sum(1 for _ in path.joinpath("task").iterdir())
        except OSError:
            continue
    return total


def _libraries() -> list[str]:
    """Where Python's packages are: of this installation, and wherever NumPy is if that is another place."""
    paths = sysconfig.get_paths()
    return list(dict.fromkeys([paths["purelib"], paths["platlib"], str(Path(np.__file__).resolve().parents[1])]))


def _python_path() -> list[str]:
    """The package, and libraries that Python would not find with another home."""
    known = set(sys.path) & {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}
    return [str(Path(__file__).resolve().parents[2]), *(path for path in _libraries() if path not in known)]


def _compiler_folders() -> Iterable[str]:
    """Compilers outside of the system's folders: the folder above the one that holds the program."""
    for name in (os.environ.get("CC", "cc").split() or ["cc"])[0], "cc", "gcc", "clang":
        found = shutil.which(name)
        if found and not Path(found).resolve().is_relative_to("/usr"):
            yield str(Path(found).resolve().parents[1])


@cache
def _bubblewrap_options() -> tuple[str, ...]:
    """No namespace is shared and no privilege is left; newer versions also refuse user namespaces within."""
    plain = ("--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session")
    strict = (*plain, "--unshare-user", "--disable-userns")
    return strict if _succeeds(["bwrap", *strict, "--ro-bind", "/", "/", "true"]) else plain


def _unshare() -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child"]


def _succeeds(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        return subprocess.run(command, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
