"""Where the courses are, and where the classroom keeps what it makes: ``.kuiper/`` there, or the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from functools import cache
from pathlib import Path

from kuiper.course.errors import CommandError, CourseError
from kuiper.course.handout_record import language_of
from kuiper.course.manifest import find_root
from kuiper.course.material import PACKAGED, material_root
from kuiper.course.notebook_language import notebook_language
from kuiper.course.phrases import phrase
from kuiper.course.state_file import keep_text
from kuiper.language import prefer
from kuiper.user_cache import user_cache

ROOT_FILE = "root.txt"  # in a folder of the user's cache: the root that it is for
HASH = re.compile("[0-9a-f]{12}")


@cache
def state_folder(root: Path) -> Path:
    """The writable folder for one root; created when asked for. $KUIPER_STATE names another."""
    own, cached = root / ".kuiper", _cached(root)
    return _first_that_can_be_written((cached,) if root == PACKAGED else (own, cached))


@cache
def folder_of_answers(root: Path) -> Path:
    """The folder for what shows a solution: in the user's cache, as nobody comes upon it there by chance.

    Where that cannot be written, it is the state folder. A new one takes the place of those whose root is gone.
    """
    found = _first_that_can_be_written((_cached(root), root / ".kuiper"))
    if found == _cached(root) and not (found / ROOT_FILE).is_file():
        keep_text(found / ROOT_FILE, str(root))
        _remove_orphans(found.parent)
    return found


def _remove_orphans(cache: Path) -> None:
    """Remove the answers for roots that are gone, and those of an older kuiper, which did not write down for whom."""
    for folder in filter(HASH.fullmatch, os.listdir(cache)):
        record, answers = cache / folder / ROOT_FILE, cache / folder / "bug-bank"
        try:
            is_used = record.is_file() and Path(record.read_text(encoding="utf-8")).is_dir()
        except (OSError, ValueError):
            is_used = False
        if answers.is_dir() and not is_used:
            shutil.rmtree(answers, ignore_errors=True)
            record.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # there may be more in it, which is no answer
                answers.parent.rmdir()


def _cached(root: Path) -> Path:
    return user_cache() / hashlib.sha256(str(root).encode()).hexdigest()[:12]


def _first_that_can_be_written(places: tuple[Path, ...]) -> Path:
    asked = os.environ.get("KUIPER_STATE")
    for folder in (Path(asked),) if asked else places:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f"probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        return folder
    expected = phrase("a folder that can be written, or {variable} to name one", variable="KUIPER_CACHE")
    raise CommandError(str(places[0]), expected, phrase("none"))


def folder(root: Path, *names: str) -> Path:
    """A folder below the state folder; created when asked for."""
    path = state_folder(root).joinpath(*names)
    path.mkdir(parents=True, exist_ok=True)
    return path


def backup_file(root: Path, name: str) -> Path:
    """A new file name for a copy of what is about to be overwritten."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = folder(root, "backups") / f"{stamp}-{name}"
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{stamp}-{number}-{name}")
    return path


def python_environment() -> dict[str, str]:
    """The environment for a process that is to find this very package, installed or not."""
    package = str(Path(__file__).resolve().parents[2])
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, before] if before else [package])}


def pytest_environment() -> dict[str, str]:
    """The same for a pytest that no variable of the user's own pytest is to reach."""
    return {key: value for key, value in python_environment().items() if not key.startswith("PYTEST_")}


def root_here() -> Path:
    """The root of the courses: above the working directory, else the checkout that this package belongs to.

    From then on kuiper speaks the language of that folder, or of the notebook that runs in this process.

    Raises
    ------
    CourseError
        If there is neither.
    """
    here = find_root(Path.cwd().resolve()) or find_root(Path(__file__).resolve().parent)
    if here is None:
        hint = phrase("cd into yours, or let {command} write one", command="kuiper course start")
        raise CommandError(str(Path.cwd()), phrase("a course folder, here or above"), phrase("none"), hint)
    prefer(notebook_language() or language_of(here))
    return here


def speak_as_here() -> None:
    """Speak the language of the notebook that runs in this process, or else of the course folder around here, if any.

    The folder is that around the working directory.
    """
    here = find_root(Path.cwd().resolve())
    if name := notebook_language() or (language_of(here) if here else ""):
        prefer(name)


def lecture_root() -> Path:
    """The root of the courses for a lecture: a notebook that was opened alone gets those of the installed package."""
    try:
        return root_here()
    except CourseError:
        root = material_root()
        if root is None:
            raise
        return root
