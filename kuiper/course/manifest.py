"""The manifest: what exercises a course has, as ``course.toml`` lists them. Everything else reads it from here."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.material import packaged_solution
from kuiper.course.toml import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HINTS_AT_LEAST = 3


@dataclass(frozen=True)
class Exercise:
    """One entry of a manifest. Paths are absolute; ``provides`` maps operator types to names in ``adapters.py``."""

    id: str
    title: str
    course: Path
    file: str
    symbols: tuple[str, ...]
    tests: tuple[str, ...]
    test_count: int
    points: int
    minutes: int
    hints: tuple[str, ...]
    depends_on: tuple[str, ...] = ()
    source: str | None = None
    timeout: float = 10.0
    provides: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def label(self) -> str:
        """Number and name, ``3.4 im2col``."""
        return f"{self.id} {self.title}"

    @property
    def student_file(self) -> Path:
        """The file that the student edits."""
        return self.course / "exercises" / self.file

    @property
    def solution_file(self) -> Path:
        """The one source: the author's file, or the engine's module where that is the plain answer.

        A folder that has none, as most students', gets it from the installed package.
        """
        name = self.source or f"{self.course.name}/solutions/{self.file}"
        own = self.course.parent / name
        return own if own.is_file() else packaged_solution(name) or own

    @property
    def bugs_file(self) -> Path:
        """The wrong implementations of this exercise."""
        return self.course / "bugs" / Path(self.file).with_suffix(".toml")

    @property
    def is_cython(self) -> bool:
        """Whether the exercise must be compiled."""
        return self.file.endswith(".pyx")

    def holds_test(self, file: str, function: str) -> bool:
        """Whether a test function belongs to this exercise: ``tests`` names whole files or ``file::function``."""
        return file in self.tests or f"{file}::{function}" in self.tests


@dataclass(frozen=True)
class Course:
    """A course folder and its exercises in teaching order."""

    folder: Path
    title: str
    exercises: tuple[Exercise, ...]

    @property
    def name(self) -> str:
        """The folder's name, ``course3_layers``."""
        return self.folder.name


@dataclass(frozen=True)
class Syllabus:
    """All courses below one root."""

    root: Path
    courses: tuple[Course, ...]

    def __iter__(self) -> Iterator[Exercise]:
        return (exercise for course in self.courses for exercise in course.exercises)

    def exercise(self, id_: str) -> Exercise:
        """The exercise with exactly this number; 3.1 is not 3.10."""
        for exercise in self:
            if exercise.id == id_:
                return exercise
        known = " ".join(exercise.id for exercise in self)
        raise CourseError("exercise", f"one of {known or '(no courses here)'}", repr(id_))

    def matching(self, part: str) -> list[Exercise]:
        """The exercises that a number stands for, by component: "3" is all of course 3, "3.1" never 3.10."""
        parts = part.split(".")
        found = [exercise for exercise in self if exercise.id.split(".")[: len(parts)] == parts]
        return found or [self.exercise(part)]

    def owner(self, file: Path, function: str) -> Exercise | None:
        """The exercise that a test function belongs to."""
        for exercise in self:
            if exercise.course == file.parent and exercise.holds_test(file.name, function):
                return exercise
        return None

    def needed_by(self, exercise: Exercise) -> list[Exercise]:
        """What an exercise stands on, direct and indirect, without itself."""
        found: dict[str, Exercise] = {}
        waiting = list(exercise.depends_on)
        while waiting:
            id_ = waiting.pop()
            if id_ not in found and id_ != exercise.id:
                found[id_] = self.exercise(id_)
                waiting += found[id_].depends_on
        return [other for other in self if other.id in found]

    def blocked_by(self, exercise: Exercise) -> list[Exercise]:
        """What waits for an exercise, direct and indirect."""
        return [other for other in self if exercise in self.needed_by(other)]


def test_files(exercises: Iterable[Exercise]) -> list[Path]:
    """The files that hold the tests of some exercises, as far as they exist."""
    files = {exercise.course / name.split("::")[0] for exercise in exercises for name in exercise.tests}
    return sorted(path for path in files if path.is_file())


def find_root(start: Path) -> Path | None:
    """The nearest folder, from ``start`` upwards, that holds courses."""
    for folder in (start, *start.parents):
        if any(folder.glob("course*/course.toml")):
            return folder
    return None


def read_syllabus(root: Path) -> Syllabus:
    """All manifests below a root, in the order of the folders' names.

    Raises
    ------
    CourseError
        If a manifest cannot be read, lacks a key, has an unknown one, or two exercises share a number.
    """
    root = root.resolve()
    courses = tuple(read_course(path) for path in sorted(root.glob("course*/course.toml")))
    syllabus = Syllabus(root, courses)
    seen: set[str] = set()
    for exercise in syllabus:
        if exercise.id in seen:
            raise CourseError(str(exercise.course / "course.toml"), "numbers that differ", f"{exercise.id} twice")
        seen.add(exercise.id)
    return syllabus


def read_course(path: Path) -> Course:
    """One manifest."""
    table = read_toml(path)
    exercises = tuple(_exercise(path, entry) for entry in table.get("exercise", []))
    return Course(path.parent, str(table.get("title", path.parent.name)), exercises)


def _exercise(path: Path, entry: dict[str, Any]) -> Exercise:
    where = f"{path} exercise {entry.get('id', '(without id)')}"
    known = {item.name: item for item in fields(Exercise) if item.name != "course"}
    unknown = [key for key in entry if key not in known]
    if unknown:
        raise CourseError(where, f"keys among {', '.join(known)}", ", ".join(unknown))
    optional = {"depends_on", "source", "timeout", "provides"}
    missing = [key for key in known if key not in entry and key not in optional]
    if missing:
        raise CourseError(where, f"the keys {', '.join(missing)}", "none of them")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    for key in ("symbols", "tests", "hints", "depends_on"):
        if not isinstance(values.get(key, ()), tuple):
            raise CourseError(where, f"a list as {key}", repr(values[key]))
    return Exercise(course=path.parent, **values)
