"""The gates in a fraction of the time: each bug only meets the test that is known to catch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.bug_table import first_catchers
from kuiper.course.errors import CourseError
from kuiper.course.gate_runs import Runs, replaced, run_all, run_chosen
from kuiper.course.gates import bugs_are_caught, hints_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.manifest import Exercise, Syllabus


def spot_check(syllabus: Syllabus, exercises: Sequence[Exercise]) -> Runs:
    """Run every test on solutions and skeletons, and on each bug the test that docs/teach/bug-bank.md names first.

    Where that does not show that all is well (the page lacks a bug, or the test catches it only after others), all
    tests of the exercise run on all of its bugs.
    """
    page = syllabus.root / "docs" / "teach" / "bug-bank.md"
    catchers = first_catchers(page.read_text(encoding="utf-8")) if page.is_file() else {}
    known = {exercise.id: catchers.get(exercise.id, {}) for exercise in exercises}
    runs = run_chosen(exercises, known)
    doubtful = [exercise for exercise in exercises if _is_doubtful(exercise, runs)]
    return replaced(runs, run_all(syllabus, doubtful), doubtful)


def _is_doubtful(exercise: Exercise, runs: Runs) -> bool:
    try:
        return bool(bugs_are_caught(exercise, runs) or hints_fit(exercise, runs))
    except (CourseError, OSError):  # bugs that cannot be read: the gates say so
        return True
