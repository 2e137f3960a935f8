"""The manifest: what exercises a course has, as ``course.toml`` lists them. Everything else reads it from here."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.guidance import Afterwards, Ladder, ShortPath
from kuiper.course.manifest_values import KINDS, is_afterwards, is_path
from kuiper.course.material import packaged
from kuiper.course.toml import read_toml, tables
from kuiper.course.unknown import no_exercise, no_function
from kuiper.language import translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HINTS_AT_LEAST = 3  # for each function


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
    hints: tuple[Ladder, ...]
    depends_on: tuple[str, ...] = ()
    engine_file: str | None = None  # of kuiper, which has these functions too: a grader shows it without them
    timeout: float = 10.0
    provides: dict[str, str] = field(default_factory=dict, hash=False)
    provides_with_product: dict[str, str] = field(default_factory=dict, hash=False)  # kuiper race --product mine
    builds: str | None = None  # the class in its file that makes an engine of all exercises it stands on
    speed: tuple[float, ...] = ()  # rising ratios to the reference's speed; each that is reached is a point for speed

    @property
    def label(self) -> str:
        """Number and name, ``3.4 im2col``."""
        return f"{self.id} {translate(self.title, 'hints')}"

    @property
    def student_file(self) -> Path:
        """The file that the student edits."""
        return self.course / "exercises" / self.file

    @property
    def solution_file(self) -> Path:
        """The author's file, from which the student's is generated.

        A folder that has none, as most students', gets it from the installed package.
        """
        name = f"{self.course.name}/solutions/{self.file}"
        own = self.course.parent / name
        return own if own.is_file() else packaged(name) or own

    @property
    def bugs_file(self) -> Path:
        """The wrong implementations of this exercise: patches of the solution, so they come from where that comes from.

        A folder that has none, as most students', gets it from the installed package.
        """
        own = self.course / "bugs" / Path(self.file).with_suffix(".toml")
        return own if own.is_file() else packaged(f"{self.course.name}/bugs/{own.name}") or own

    @property
    def is_cython(self) -> bool:
        """Whether the exercise must be compiled."""
        return self.file.endswith(".pyx")

    def ladder(self, function: str) -> Ladder:
        """The hints for a function, by its name with or without the class it is in.

        Raises
        ------
        CourseError
            If the exercise has no hints for one of this name.
        """
        for name in (function, *_outer(function)):
            for ladder in self.hints:
                if name in (ladder.function, ladder.short):
                    return ladder
        raise no_function(self.id, [ladder.function for ladder in self.hints], function)

    def has_ladder(self, function: str) -> bool:
        """Whether there are hints for a function, or for the class it is in."""
        names = {name for ladder in self.hints for name in (ladder.function, ladder.short)}
        return not names.isdisjoint((function, *_outer(function)))

    def function_of_test(self, test: str, rest: bool = True) -> str:
        """The function whose hints a test belongs to, by the test's name: the longest beginning decides; or "".

        A test that runs for several functions has the function's name among its parameters: ``test_in_place[silu]``.
        Without ``rest``, the empty beginning of all names does not count.
        """
        if len(self.hints) == 1:
            return self.hints[0].function
        words = test.partition("[")[2].removesuffix("]").split("-")
        named = [ladder for ladder in self.hints if ladder.short in words]
        best = max(named or self.hints, key=lambda ladder: ladder.fits(test), default=None)
        return best.function if best and (named or best.fits(test) >= (not rest)) else ""

    def holds_test(self, file: str, function: str) -> bool:
        """Whether a test function belongs to this exercise: ``tests`` names whole files or ``file::function``."""
        return file in self.tests or f"{file}::{function}" in self.tests


def _outer(function: str) -> list[str]:
    """What a function stands in, from the inside outwards: ``Registry.register`` of ``Registry.register.keep``."""
    parts = function.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]


@dataclass(frozen=True)
class Course:
    """A course folder and its exercises in teaching order."""

    folder: Path
    title: str
    exercises: tuple[Exercise, ...]
    afterwards: Afterwards | None = None
    paths: tuple[ShortPath, ...] = ()

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
        raise no_exercise([exercise.id for exercise in self], id_)

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

    def engine_parts(self) -> list[Exercise]:
        """The exercises of an engine: all that the one with ``builds`` in its manifest entry stands on, and itself."""
        capstone = next((exercise for exercise in self if exercise.builds), None)
        return [*self.needed_by(capstone), capstone] if capstone else []

    def races(self) -> dict[str, Course]:
        """The courses behind which the student's engine can do something, by the word of ``kuiper race``."""
        return {
            course.afterwards.race: course for course in self.courses if course.afterwards and course.afterwards.race
        }

    def race_ratios(self) -> dict[str, tuple[float, ...]]:
        """The ratios that are worth a point for speed in races, by the name of what is raced."""
        return {
            model: ratios
            for course in self.courses
            if course.afterwards
            for model, ratios in course.afterwards.speed.items()
        }

    def grown_parts(self) -> list[Exercise]:
        """The exercises of the engine, and those that ``kuiper race`` uses behind a course."""
        used = {part.id for part in self.engine_parts()}
        used |= {id_ for course in self.courses if course.afterwards for id_ in course.afterwards.parts}
        return [exercise for exercise in self if exercise.id in used]

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
    exercises = tuple(_exercise(path, entry) for entry in tables(table, "exercise", str(path)))
    title, paths = (
        str(table.get("title", path.parent.name)),
        tuple(_path(path, e) for e in tables(table, "path", str(path))),
    )
    return Course(path.parent, title, exercises, _afterwards(path, table), paths)


def _afterwards(path: Path, table: dict[str, Any]) -> Afterwards | None:
    entry = table.get("afterwards")
    if entry is None:
        return None
    if not is_afterwards(entry):
        words = (
            "the texts 'built' and 'engines', a list 'try', and perhaps a text 'race' with a list 'parts', or rising "
        )
        words += "ratios of races as 'speed'"
        raise CourseError(f"{path} afterwards", words, reprlib.repr(entry))
    race, parts = entry.get("race", ""), tuple(entry.get("parts", []))
    speed = {model: tuple(ratios) for model, ratios in entry.get("speed", {}).items()}
    return Afterwards(entry["built"], entry["engines"], tuple(entry["try"]), race, parts, speed)


def _path(path: Path, entry: dict[str, Any]) -> ShortPath:
    if not is_path(entry):
        words = (
            "the texts 'name', 'title', 'goal', different 'exercises', and perhaps a table of 'answers' to some of them"
        )
        raise CourseError(f"{path} path {entry.get('name', '(without name)')}", words, reprlib.repr(entry))
    return ShortPath(**{**entry, "exercises": tuple(entry["exercises"])})


def _exercise(path: Path, entry: dict[str, Any]) -> Exercise:
    where = f"{path} exercise {entry.get('id', '(without id)')}"
    known = {item.name: item for item in fields(Exercise) if item.name != "course"}
    unknown = [key for key in entry if key not in known]
    if unknown:
        raise CourseError(where, f"keys among {', '.join(known)}", ", ".join(unknown))
    optional = {"depends_on", "engine_file", "timeout", "provides", "provides_with_product", "builds", "speed"}
    missing = [key for key in known if key not in entry and key not in optional]
    if missing:
        raise CourseError(where, f"the keys {', '.join(missing)}", "none of them")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    for key, value in values.items():
        wanted, fits = KINDS[key]
        if not fits(value):
            raise CourseError(where, f"{wanted} as {key}", reprlib.repr(entry[key]))
    values["hints"] = tuple(
        Ladder(hint["for"], *(tuple(hint.get(key, ())) for key in ("ladder", "tests", "first")))
        for hint in values["hints"]
    )
    return Exercise(course=path.parent, **values)
