"""Grading: each submission in a pytest of its own, with this checkout's tests, and the student's code behind walls."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.manifest import Exercise, Syllabus, test_files
from kuiper.course.places import python_environment
from kuiper.course.submission import find, take_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True)
class Grade:
    """One exercise of one submission. Points are given when every test has passed."""

    id: str
    title: str
    points: int
    full: int
    passed: int
    tests: int
    verdict: str
    message: str = ""


@dataclass(frozen=True)
class Report:
    """A graded submission; ``odd`` lists what a human should look at."""

    name: str
    grades: tuple[Grade, ...]
    odd: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        return sum(grade.points for grade in self.grades)

    @property
    def full(self) -> int:
        return sum(grade.full for grade in self.grades)


def submissions_in(syllabus: Syllabus, folder: Path) -> list[Path]:
    """The folder itself if it holds exercises, else those of its folders that do.

    Raises
    ------
    CourseError
        If there is no exercise anywhere.
    """
    if not folder.is_dir():
        raise CourseError(str(folder), "a folder with a submission, or with folders of them", "no such folder")
    if any(find(folder, exercise) for exercise in syllabus):
        return [folder]
    found = [path for path in sorted(folder.iterdir()) if path.is_dir() and any(find(path, ex) for ex in syllabus)]
    if not found:
        raise CourseError(str(folder), "submissions: folders with exercise files", "none")
    return found


def grade_all(
    syllabus: Syllabus,
    exercises: Sequence[Exercise],
    submissions: Sequence[Path],
    seconds: float,
    jobs: int,
    done: Callable[[Report], None],
) -> list[Report]:
    """Grade submissions in parallel; ``done`` hears of each as it is finished. Reports come in the order given."""
    reports: dict[Path, Report] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(grade_one, syllabus, exercises, path, seconds): path for path in submissions}
        for future in as_completed(waiting):
            reports[waiting[future]] = future.result()
            done(future.result())
    return [reports[path] for path in submissions]


def grade_one(syllabus: Syllabus, exercises: Sequence[Exercise], submission: Path, seconds: float) -> Report:
    """Grade one submission within ``seconds`` for each exercise."""
    with tempfile.TemporaryDirectory(prefix="kuiper-grade-", ignore_cleanup_errors=True) as folder:
        home, table = Path(folder, "home"), Path(folder, "outcomes.jsonl")
        home.mkdir()
        odd = take_in(syllabus, submission, home)
        needed = {part.id for exercise in exercises for part in (exercise, *syllabus.needed_by(exercise))}
        to_run = [exercise for exercise in syllabus if exercise.id in needed]
        timed_out = not _run(to_run, syllabus.root, home, table, seconds * len(to_run))
        outcomes = _outcomes(table)
    if timed_out:
        odd.append(f"stopped after {seconds * len(to_run):.0f} seconds; what had not run by then counts as failed")
    return Report(submission.name, tuple(_grade(exercise, outcomes) for exercise in exercises), tuple(odd))


def gradescope(report: Report) -> dict[str, Any]:
    """The report as Gradescope's results.json."""
    tests = [
        {
            "name": f"{grade.id} {grade.title}",
            "score": grade.points,
            "max_score": grade.full,
            "status": "passed" if grade.points else "failed",
            "output": f"{grade.passed} of {grade.tests} tests passed\n{grade.message}".strip(),
        }
        for grade in report.grades
    ]
    return {"score": report.points, "tests": tests, "output": "\n".join(report.odd)}


def as_dict(report: Report) -> dict[str, Any]:
    """The report for other programs."""
    return {"name": report.name, "points": report.points, "full": report.full, **asdict(report)}


def _run(exercises: Sequence[Exercise], root: Path, home: Path, table: Path, seconds: float) -> bool:
    """Run the tests; whether they ended in time."""
    files = [str(path) for path in test_files(exercises)]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "kuiper.course.pytest_plugin", "-p", "no:cacheprovider"]
    words += [f"--rootdir={root}", "--import-mode=importlib", f"--submission={home}", f"--outcomes={table}"]
    words += [f"--exercise={exercise.id}" for exercise in exercises]
    env = {key: value for key, value in python_environment().items() if not key.startswith("PYTEST_")}
    process = subprocess.Popen(
        [*words, *files],
        cwd=root,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=seconds)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End pytest and all that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _outcomes(table: Path) -> list[dict[str, Any]]:
    return list(_lines(table)) if table.is_file() else []


def _lines(table: Path) -> Iterator[dict[str, Any]]:
    yield from json.loads(table.read_text(encoding="utf-8"))


def _grade(exercise: Exercise, outcomes: list[dict[str, Any]]) -> Grade:
    """Points only if all tests that the manifest counts have run and passed."""
    own = [outcome for outcome in outcomes if outcome["exercise"] == exercise.id]
    passed = sum(outcome["verdict"] == "passed" for outcome in own)
    is_solved = passed == len(own) == exercise.test_count
    failed = next((outcome for outcome in own if outcome["verdict"] != "passed"), None)
    verdict = "solved" if is_solved else failed["verdict"] if failed else "not run"
    message = "" if failed is None else "\n".join([failed["test"], *failed["lines"]])
    points = exercise.points if is_solved else 0
    return Grade(
        exercise.id, exercise.title, points, exercise.points, passed, exercise.test_count, verdict, _printable(message)
    )


def _printable(text: str) -> str:
    """Without the control characters that a submission might have sent to a terminal."""
    return "".join(char for char in text if char.isprintable() or char == "\n")[:2000]
