"""A student's own folder with the course: written once, brought up to date later, and nothing of the student's is lost.

The folder has a record of what was written. By it a later version tells the author's files, which it replaces, from the
student's: an exercise that was changed stays as it is; of any other changed file that must be replaced the student's
version is kept in ``.kuiper/backups``.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import kuiper
from kuiper.course.contents import contents
from kuiper.course.errors import CommandError
from kuiper.course.handout_record import RECORD, Record, digest, read_record, write_whole
from kuiper.course.manifest import find_root, read_syllabus
from kuiper.course.material import CHECKOUT, material_files
from kuiper.course.phrases import phrase
from kuiper.course.places import backup_file, state_folder
from kuiper.course.progress import Progress
from kuiper.course.sync import is_untouched
from kuiper.language import ENGLISH, _, noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Fate = Literal["added", "updated", "restored", "removed", "kept"]
HANDED_OUT = noop("a folder that {command} wrote")
SAID = noop("added"), noop("updated"), noop("restored"), noop("removed"), noop("kept")


@dataclass(frozen=True)
class Change:
    """What an update did with a file: ``note`` says where to find what is not in its place."""

    fate: Fate
    name: str
    note: str = ""


def start(folder: Path, solutions: bool = False, language: str = ENGLISH) -> list[str]:
    """Write the course into a new folder, or into one that has nothing in the way; the names of the files.

    Raises
    ------
    CourseError
        If the folder is in use, or lies in a course folder. Nothing has been written then.
    OSError
        If it cannot be written.
    """
    files = contents(solutions, language)
    _check_is_free(folder, files)
    folder.mkdir(parents=True, exist_ok=True)
    record = Record(kuiper.__version__, solutions, {name: digest(data) for name, data in files.items()}, language)
    record.save(folder)  # first: whatever happens now, an update completes the rest
    for name, data in files.items():
        write_whole(folder / name, data)
    return sorted(files)


def course_folder(start: Path) -> Path:
    """The student's folder around a place.

    Raises
    ------
    CourseError
        If there is none, if it is a checkout of kuiper, or has other courses.
    """
    start = start.resolve()
    marked = next((place for place in (start, *start.parents) if (place / RECORD).is_file()), None)
    found = marked or find_root(start)
    if found is None:
        hint = phrase("{command} writes one", command="kuiper course start")
        raise CommandError(str(start), phrase("a course folder, here or above"), phrase("none"), hint)
    if marked is None and (found == CHECKOUT or (found / "kuiper" / "course").is_dir()):
        hint = phrase("use {command}", command="git pull")
        raise CommandError(str(found), phrase(HANDED_OUT, command="kuiper course start"), phrase("a checkout"), hint)
    manifests = [name for name in material_files() if name.endswith("course.toml")]
    if marked is None and not any((found / name).is_file() for name in manifests):
        expected = phrase(HANDED_OUT, command="kuiper course start")
        raise CommandError(str(found), expected, phrase("other courses"))
    return found


def update(folder: Path, solutions: bool = False, language: str = "") -> Iterator[Change]:
    """Bring a student's folder to this version of the course, file by file, and to another language if one is given.

    Without a record every file counts as the student's, except skeletons, which know themselves.

    Raises
    ------
    CourseError
        If something that is no file has the name of one.
    OSError
        If the folder cannot be written.
    """
    record = read_record(folder) or Record()
    record.solutions = record.solutions or solutions
    record.language = language or record.language
    record.version = kuiper.__version__
    record.save(folder)  # a folder that cannot be written is found out before anything is changed
    files = contents(record.solutions, record.language or ENGLISH)
    tests_changed = []
    try:
        for name, data in files.items():
            change = _bring(folder, name, data, record)
            record.files[name] = digest(data)
            if change:
                tests_changed += [name] if change.fate != "kept" and _is_test(name) else []
                yield change
        for name in sorted(record.files.keys() - files.keys()):
            change = _take_away(folder, name, record)
            del record.files[name]
            if change:
                yield change
    finally:
        record.save(folder)
        shutil.rmtree(state_folder(folder) / "bug-bank", ignore_errors=True)  # solutions, left by an older kuiper
        _forget_results(folder, tests_changed)


def _bring(folder: Path, name: str, data: bytes, record: Record) -> Change | None:
    """Put one file in its place, unless what stands there is to stay."""
    path = folder / name
    if path.is_dir():
        raise CommandError(str(path), phrase("a file, or nothing"), phrase("a folder"))
    if not path.exists():
        write_whole(path, data)
        return Change("restored" if name in record.files else "added", name)
    present = digest(path.read_bytes())
    offered = record.files.get(name)
    if present == digest(data):
        return None
    if present == offered or (_is_exercise(name) and is_untouched(path)):
        write_whole(path, data)
        return Change("updated", name)
    if _is_exercise(name):
        return Change("kept", name, "" if offered == digest(data) else _new_skeleton(folder, name, data))
    if offered == digest(data) and not _belongs_to_the_tests(name):
        return None  # a lecture that was run, a page with notes: there is nothing newer to bring
    aside = _keep_aside(folder, name)
    write_whole(path, data)
    return Change("updated" if offered != digest(data) else "restored", name, _yours(aside, folder))


def _new_skeleton(folder: Path, name: str, data: bytes) -> str:
    """Where the student may look up what an exercise says now."""
    path = state_folder(folder) / "skeletons" / name.replace("exercises/", "")
    write_whole(path, data)
    return _("what it says now: {file}").format(file=_shown(path, folder))


def _take_away(folder: Path, name: str, record: Record) -> Change | None:
    """Remove one file that the course no longer has, unless it is the student's."""
    path = folder / name
    if not path.is_file():
        return None
    is_own = digest(path.read_bytes()) != record.files[name] and not (_is_exercise(name) and is_untouched(path))
    if not is_own:
        path.unlink()
        with contextlib.suppress(OSError):
            path.parent.rmdir()  # if nothing is left in it
        return Change("removed", name)
    if not _belongs_to_the_tests(name):
        return Change("kept", name, _("the course no longer has it"))
    aside = _keep_aside(folder, name)
    path.unlink()
    return Change("removed", name, _yours(aside, folder))


def _keep_aside(folder: Path, name: str) -> Path:
    aside = backup_file(folder, name.replace("/", "-"))
    shutil.copyfile(folder / name, aside)
    return aside


def _yours(aside: Path, folder: Path) -> str:
    return _("your version: {file}").format(file=_shown(aside, folder))


def _shown(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _is_exercise(name: str) -> bool:
    return "exercises" in name.split("/")


def _is_test(name: str) -> bool:
    return name.startswith("course") and name.rpartition("/")[2].startswith(("test_", "course.toml"))


def _belongs_to_the_tests(name: str) -> bool:
    """Whether the tests need it as it was handed out: all of the course folders but exercises and READMEs."""
    in_course = name.startswith("course") and not _is_exercise(name) and not name.endswith(".md")
    return in_course or name in ("conftest.py", "pytest.ini")


def _forget_results(folder: Path, names: list[str]) -> None:
    """What other tests have found does not count any more."""
    changed = {folder / name for name in names}
    if changed:
        stale = []
        for exercise in read_syllabus(folder):
            tests = {exercise.course / name.split("::")[0] for name in ("course.toml", *exercise.tests)}
            stale += [exercise] if tests & changed else []
        Progress(folder).forget(stale)


def _check_is_free(folder: Path, files: Mapping[str, bytes]) -> None:
    """Raise unless the files can be written without touching what is there."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(str(folder), phrase("a new or empty folder"), phrase("a file"))
    around = next((place for place in (folder, *folder.resolve().parents) if (place / RECORD).is_file()), None)
    if around or (folder.is_dir() and any(folder.glob("course*/course.toml"))):
        hint = phrase("{command} completes it, and brings it up to date", command="kuiper course update")
        got = phrase("the course in {folder}", folder=around or folder)
        raise CommandError(str(folder), phrase("a folder outside of any course"), got, hint)
    if not folder.is_dir():
        return
    # A virtual environment, or .git, may be there already.
    visible = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".") and path.name != "venv")
    in_the_way = visible or sorted(name for name in files if (folder / name).exists())
    if in_the_way:
        more = " ..." if len(in_the_way) > 3 else ""
        got = phrase("one with {names}", names=", ".join(in_the_way[:3]) + more)
        raise CommandError(str(folder), phrase("a new or empty folder"), got, "kuiper course start ANOTHER_FOLDER")
