"""A submission as a classroom: its own files behind walls, the tests of this checkout in front of them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from kuiper.course.classroom import Classroom, UndoneError
from kuiper.course.implementation import Implementation
from kuiper.course.material import course_folders
from kuiper.course.remote import Worker
from kuiper.course.sandbox import Limits, apply, best_mode, environment, guard, worker_command
from kuiper.course.selection import Selection
from kuiper.course.sync import is_untouched

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Exercise, Syllabus

LARGEST_FILE = 1024 * 1024


class SubmissionRoom(Classroom):
    """Every exercise gets a new process, which sees the submission and no solutions.

    An exercise is not punished for another one: where something it stands on has failed, it gets the reference of that,
    which by then can help nobody any more.
    """

    def __init__(self, syllabus: Syllabus, home: Path, limits: Limits | None = None) -> None:
        super().__init__(Selection(syllabus, "student", home=home))
        self.home, self.limits = home, limits or Limits()
        self._current: str | None = None

    def selection_for(self, exercise: Exercise) -> Selection:
        paths = {part.id: submitted(self.home, part) for part in self.syllabus}
        for needed in self.syllabus.needed_by(exercise):
            if needed.id in self.failed or not _is_written(paths[needed.id]):
                paths[needed.id] = self._reference(needed)
        return Selection(self.syllabus, "student", paths=paths, home=self.home)

    def implementation(self, exercise: Exercise, selection: Selection | None = None) -> Implementation:
        if self._current != exercise.id:
            self.close()
            hidden = [self.syllabus.root / name for name in ("tests", ".kuiper", ".git")]
            hidden += [course.folder for course in self.syllabus.courses]
            hidden += course_folders()  # of the installed package, should that be another
            command = worker_command(best_mode(), self.home, [path for path in dict.fromkeys(hidden) if path.is_dir()])
            self._worker = Worker(command, environment(self.home), self.home, apply(self.limits), guard(self.limits))
            self._current = exercise.id
        return Implementation(exercise, selection or self.selection_for(exercise), self._worker)

    def check_ready(self, exercise: Exercise) -> None:
        if not _is_written(submitted(self.home, exercise)):
            self.failed.add(exercise.id)
            raise UndoneError("not started", f"{exercise.label} - not handed in")

    def _reference(self, exercise: Exercise) -> Path:
        path = self.home / "reference" / exercise.id / exercise.file
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(exercise.solution_file, path)
        return path


def submitted(home: Path, exercise: Exercise) -> Path:
    """Where an exercise of a submission lies once it has been taken in."""
    return home / exercise.course.name / "exercises" / exercise.file


def take_in(syllabus: Syllabus, submission: Path, home: Path) -> list[str]:
    """Copy what is to be graded, and nothing else, to ``home``; what looks odd, in words.

    Only plain files of ordinary size are taken: a link could lead to the grader's own files.
    """
    odd = []
    for course in syllabus.courses:
        folder = home / course.name
        (folder / "exercises").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(course.folder / "course.toml", folder / "course.toml")
    for exercise in syllabus:
        source = find(submission, exercise)
        if source is None:
            continue
        if source.is_symlink() or not source.is_file() or source.stat().st_size > LARGEST_FILE:
            odd.append(f"{exercise.id}: {source.name} is a link, no file, or larger than {LARGEST_FILE} bytes; ignored")
            continue
        shutil.copyfile(source, submitted(home, exercise))
        odd += [f"{exercise.id}: {words}" for words in suspicious(_text(source)) if words not in _needed(exercise)]
    return odd


def find(submission: Path, exercise: Exercise) -> Path | None:
    """An exercise's file in a submission: a whole checkout, the course folders alone, or just files."""
    names = (f"{exercise.course.name}/exercises/{exercise.file}", f"exercises/{exercise.file}", exercise.file)
    return next((path for name in names if (path := submission / name).is_symlink() or path.exists()), None)


def suspicious(text: str) -> list[str]:
    """Words that an exercise has no need for: no proof of anything, but worth a look by a human."""
    words = ["kuiper.layers", "kuiper.graph", "kuiper.expression", "kuiper.tensor", "kuiper.models", "solutions"]
    words += ("ctypes", "subprocess", "importlib", "__import__", "inspect", "socket", "_getframe", "sys.modules")
    return [f"mentions {word}" for word in words if word in text]


def _needed(exercise: Exercise) -> list[str]:
    """What the reference itself mentions is nothing odd in a submission."""
    return suspicious(_text(exercise.solution_file)) if exercise.solution_file.is_file() else []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _is_written(path: Path) -> bool:
    return path.is_file() and not is_untouched(path)
