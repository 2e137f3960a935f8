"""Short paths through the courses: some exercises that lead to one thing, in the order in which they are solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.course.errors import CommandError, CourseError
from kuiper.course.phrases import listed, phrase
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.guidance import ShortPath
    from kuiper.course.manifest import Exercise, Syllabus


@dataclass(frozen=True)
class Route:
    """A short path with its exercises, and with what these stand on and the path leaves out."""

    path: ShortPath
    exercises: tuple[Exercise, ...]
    borrowed: tuple[Exercise, ...]

    @property
    def minutes(self) -> int:
        """The sum of the manifests' estimates."""
        return sum(exercise.minutes for exercise in self.exercises)

    @property
    def needs_compiler(self) -> bool:
        """Whether one of its exercises, or of what these stand on, is compiled."""
        return any(exercise.is_cython for exercise in (*self.exercises, *self.borrowed))


def routes(syllabus: Syllabus) -> list[Route]:
    """All short paths of the courses.

    Raises
    ------
    CourseError
        If two share a name, or one of them cannot be gone.
    """
    names = [path.name for course in syllabus.courses for path in course.paths]
    return [route(syllabus, name) for name in names]


def route(syllabus: Syllabus, name: str) -> Route:
    """The short path of this name.

    Raises
    ------
    CourseError
        If there is none, or more than one; if it has an exercise that no course has, or one before another that it
        stands on.
    """
    paths = [path for course in syllabus.courses for path in course.paths]
    found = [path for path in paths if path.name == name]
    if not found:
        known = list(dict.fromkeys(path.name for path in paths))
        expected = phrase("one of {known}", known=listed(known)) if known else phrase("courses that have paths")
        raise CommandError(phrase("path"), expected, repr(name))
    if len(found) > 1:
        raise CourseError("path", "names that differ", f"{name!r} {len(found)} times")
    (path,) = found
    known_ids = {exercise.id for exercise in syllabus}
    if lost := [id_ for id_ in path.exercises if id_ not in known_ids]:
        raise CourseError(f"path {name}", "exercises of the courses", " ".join(lost))
    exercises = tuple(map(syllabus.exercise, path.exercises))
    for place, exercise in enumerate(exercises):
        needed = syllabus.needed_by(exercise)
        if late := [other.id for other in exercises[place:] if other in needed]:
            raise CourseError(f"path {name}", f"{' '.join(late)} before {exercise.id}", " ".join(path.exercises))
    return Route(path, exercises, tuple(borrowed(syllabus, exercises)))


def borrowed(syllabus: Syllabus, exercises: Sequence[Exercise]) -> list[Exercise]:
    """What some exercises stand on and is not among them: the reference's stands in for it."""
    needed = {other.id for exercise in exercises for other in syllabus.needed_by(exercise)}
    return [other for other in syllabus if other.id in needed and other not in exercises]


def check_command(syllabus: Syllabus, way: Route, exercise: Exercise) -> str:
    """The command that tests an exercise of a path: what the path leaves out is the reference's."""
    needed = syllabus.needed_by(exercise)
    refs = [f"--ref {other.id}" for other in way.borrowed if other in needed]
    return " ".join(["kuiper check", exercise.id, *refs])


def in_hours(minutes: int) -> str:
    """A time as a reader plans it: ``10 h 5 min``."""
    hours, rest = divmod(minutes, 60)
    words = _("{hours} h {minutes} min") if rest else _("{hours} h")
    return words.format(hours=hours, minutes=rest)
