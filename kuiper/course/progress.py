"""What has been solved so far: a JSON file that belongs to the texts it speaks of. Edit a file and its line is void."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from kuiper.course.places import state_folder
from kuiper.course.state_file import as_table, read_state, write_state
from kuiper.course.sync import is_untouched
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kuiper.course.manifest import Course, Exercise, Syllabus

Status = Literal["solved", "failing", "started", "not started"]
BAR = 24


@dataclass(frozen=True)
class Result:
    """How an exercise's tests went, for one text of the student's file."""

    digest: str
    passed: int
    total: int
    time: float

    @property
    def is_solved(self) -> bool:
        return self.passed == self.total > 0


class Progress:
    """The results of one root's exercises."""

    def __init__(self, root: Path) -> None:
        self._path = state_folder(root) / "progress.json"
        table = as_table(read_state(self._path))
        self._results = {id_: Result(**entry) for id_, entry in table.items() if _is_result(entry)}

    def result(self, exercise: Exercise) -> Result | None:
        """The result that belongs to the file as it is now."""
        result = self._results.get(exercise.id)
        return result if result and result.digest == digest(exercise) else None

    def status(self, exercise: Exercise) -> Status:
        """Where the student stands with an exercise."""
        if not is_started(exercise):
            return "not started"
        result = self.result(exercise)
        if result is None:
            return "started"
        return "solved" if result.is_solved else "failing"

    def record(self, counts: Mapping[Exercise, int]) -> None:
        """Store how many tests of each exercise have passed, of those that its manifest counts."""
        now = time.time()
        for exercise, passed in counts.items():
            self._results[exercise.id] = Result(digest(exercise), passed, exercise.test_count, now)
        self._save()

    def forget(self, exercises: Iterable[Exercise]) -> None:
        """Drop the results of exercises whose tests have become others."""
        for exercise in exercises:
            self._results.pop(exercise.id, None)
        self._save()

    def _save(self) -> None:
        write_state(self._path, {id_: asdict(result) for id_, result in sorted(self._results.items())})


def _is_result(entry: Any) -> bool:
    """Whether an entry of the file is what ``Progress`` writes."""
    if not isinstance(entry, dict) or entry.keys() != {"digest", "passed", "total", "time"}:
        return False
    numbers = (entry["passed"], entry["total"], entry["time"])
    return isinstance(entry["digest"], str) and all(isinstance(number, (int, float)) for number in numbers)


def is_started(exercise: Exercise) -> bool:
    """Whether the student has changed the file."""
    return exercise.student_file.is_file() and not is_untouched(exercise.student_file)


def digest(exercise: Exercise) -> str:
    """A hash of the student's file."""
    path = exercise.student_file
    return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()[:16]


def bars(courses: tuple[Course, ...], progress: Progress) -> list[str]:
    """One line for each course: its name, a bar in which an exercise weighs its points, and the count."""
    width = max((len(course.name) for course in courses), default=0)
    lines = []
    for course in courses:
        solved = [exercise for exercise in course.exercises if progress.status(exercise) == "solved"]
        points = sum(exercise.points for exercise in solved)
        full = sum(exercise.points for exercise in course.exercises)
        filled = BAR * points // full if full else 0
        bar = "█" * filled + "░" * (BAR - filled)
        words = _("{solved}/{all} solved, {points}/{full} points").format(
            solved=len(solved), all=len(course.exercises), points=points, full=full
        )
        lines.append(f"{course.name.ljust(width)}  {bar}  {words}")
    return lines


def next_exercise(syllabus: Syllabus, progress: Progress, among: tuple[Course, ...] = ()) -> Exercise | None:
    """The first unsolved exercise whose foundations are solved: in these courses, else anywhere."""
    unsolved = [exercise for exercise in syllabus if progress.status(exercise) != "solved"]
    ready = [
        exercise for exercise in unsolved if not any(needed in unsolved for needed in syllabus.needed_by(exercise))
    ]
    folders = {course.folder for course in among}
    return next((exercise for exercise in ready if exercise.course in folders), next(iter(ready), None))
