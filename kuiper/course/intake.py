"""Taking a submission in: plain files of ordinary size are copied, one by one, and nothing else of it is ever used.

A link could lead to the solutions, to another student's folder, or to the grader's own files. So no name on the way to
a file may be one, below the folder of the submission.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kuiper.course.errors import CommandError
from kuiper.course.phrases import phrase, recognised
from kuiper.course.suspicious_code import suspicious_code
from kuiper.course.sync import is_untouched
from kuiper.language import noop

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Exercise, Syllabus

MAX_FILE = 1024 * 1024
SUSPICIONS = (
    noop("uses getattr with a name that is computed"),
    noop("imports {name}"),
    noop("uses {name}"),
    noop("changes {name}"),
    noop("has the directive {text}"),
    noop("has {text}"),
    noop("could not be read"),
)
"""What suspicious_code.py says, which runs apart and has no language."""


@dataclass
class Intake:
    """What has been copied, exercise by exercise, and what looks odd: the exercise's number, and words."""

    files: dict[str, Path] = field(default_factory=dict)
    odd: list[tuple[str, str]] = field(default_factory=list)


class RefusedError(Exception):
    """A file of a submission that is not taken; its argument is a phrase that says why."""


def submitted(home: Path, exercise: Exercise) -> Path:
    """Where an exercise of a submission lies once it has been taken in."""
    return home / exercise.course.name / "exercises" / exercise.file


def is_written(path: Path) -> bool:
    """Whether something has been handed in there that is not the skeleton."""
    return path.is_file() and not is_untouched(path)


def take_in(syllabus: Syllabus, submission: Path, home: Path) -> Intake:
    """Copy what is to be graded, and nothing else, to ``home``."""
    taken = Intake()
    for course in syllabus.courses:
        (home / course.name / "exercises").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(course.folder / "course.toml", home / course.name / "course.toml")
    for exercise in syllabus:
        try:
            source = find(submission, exercise)
            if source is not None:
                submitted(home, exercise).write_bytes(_contents(source))
                taken.files[exercise.id] = submitted(home, exercise)
        except RefusedError as error:
            taken.odd.append((exercise.id, phrase("{reason}; not taken", reason=error.args[0])))
    written = [exercise for exercise in syllabus if exercise.id in taken.files and is_written(taken.files[exercise.id])]
    for path in (home, *home.rglob("*")):  # anyone who runs it can read it, whatever new files are otherwise
        path.chmod(0o755 if path.is_dir() else 0o644)
    pairs = [(taken.files[exercise.id], _reference(exercise)) for exercise in written]
    for exercise, words in zip(written, suspicious_code(pairs) if pairs else [], strict=True):
        taken.odd += [(exercise.id, recognised(word, SUSPICIONS)) for word in words]
    return taken


def submissions_in(syllabus: Syllabus, folder: Path) -> list[Path]:
    """The folder itself if it holds exercises, else those of its folders that do.

    Raises
    ------
    CourseError
        If there is no exercise anywhere.
    """
    if not folder.is_dir():
        expected = phrase("a folder with a submission, or with folders of them")
        raise CommandError(str(folder), expected, phrase("no such folder"))
    if any(_is_handed_in(folder, exercise) for exercise in syllabus):
        return [folder]
    found = [
        path for path in sorted(folder.iterdir()) if path.is_dir() and any(_is_handed_in(path, ex) for ex in syllabus)
    ]
    if not found:
        raise CommandError(str(folder), phrase("submissions: folders with exercise files"), phrase("none"))
    return found


def find(submission: Path, exercise: Exercise) -> Path | None:
    """An exercise's file in a submission: a whole checkout, the course folders alone, or just files.

    Raises
    ------
    RefusedError
        If something on the way to it is a link, or no folder.
    """
    if submission.is_symlink():
        raise RefusedError(phrase("{name} is a link", name=submission.name))
    for folders in ((exercise.course.name, "exercises"), ("exercises",), ()):
        path = submission
        for name in folders:
            path /= name
            state = _state(path)
            if state is None:
                break
            if not stat.S_ISDIR(state.st_mode):
                name = str(path.relative_to(submission))
                raise RefusedError(phrase("{name} is {kind}, no folder", name=name, kind=_kind(state)))
        else:
            if _state(path / exercise.file) is not None:
                return path / exercise.file
    return None


def _is_handed_in(folder: Path, exercise: Exercise) -> bool:
    try:
        return find(folder, exercise) is not None
    except RefusedError:  # something is there; the report will say what
        return True


def _contents(path: Path) -> bytes:
    """The bytes of a plain file, which is the one that was looked at."""
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode):
        raise RefusedError(phrase("{name} is {kind}, no file", name=path.name, kind=_kind(state)))
    if state.st_nlink > 1:
        raise RefusedError(phrase("{name} has other names too (hard links)", name=path.name))
    if state.st_size > MAX_FILE:
        words = noop("{name} has {bytes} bytes, more than {most}")
        raise RefusedError(phrase(words, name=path.name, bytes=state.st_size, most=MAX_FILE))
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            opened = os.fstat(file.fileno())
            if (opened.st_ino, opened.st_dev) != (state.st_ino, state.st_dev):
                raise RefusedError(phrase("{name} changed while it was read", name=path.name))
            return file.read(MAX_FILE)
    except OSError as error:
        raise RefusedError(phrase("{name} cannot be read ({reason})", name=path.name, reason=error.strerror)) from None


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (OSError, ValueError):
        return None


def _kind(state: os.stat_result) -> str:
    kinds = {
        stat.S_IFLNK: phrase("a link"),
        stat.S_IFDIR: phrase("a folder"),
        stat.S_IFIFO: phrase("a pipe"),
        stat.S_IFREG: phrase("a file"),
    }
    return kinds.get(stat.S_IFMT(state.st_mode)) or phrase("a device or a socket")


def _reference(exercise: Exercise) -> Path | None:
    return exercise.solution_file if exercise.solution_file.is_file() else None
