"""The gates in a fraction of the time: each bug only meets the test that is known to catch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.catches import stored_catches
from kuiper.course.errors import CourseError
from kuiper.course.gate_runs import Runs, replaced, run_all, run_chosen
from kuiper.course.gates import bugs_are_caught, hints_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.manifest import Exercise, Syllabus


def spot_check(syllabus: Syllabus, exercises: Sequence[Exercise]) -> Runs:
    """Run every test on solutions and skeletons, and on each bug the test that is known to catch it.

    Where that does not show that all is well (nothing is stored of a bug, or the test catches it only after others),
    all tests of the exercise run on all of its bugs.
    """
    known = {exercise.id: first_tests(exercise) for exercise in exercises}
    runs = run_chosen(exercises, known)
    doubtful = [exercise for exercise in exercises if _is_doubtful(exercise, runs)]
    return replaced(runs, run_all(syllabus, doubtful), doubtful)


def first_tests(exercise: Exercise) -> dict[str, str]:
    """The test that stands first for each bug; none where what is stored cannot be read, so that all tests run."""
    try:
        return {bug: caught.tests[0] for bug, caught in stored_catches(exercise).items() if caught.tests}
    except CourseError:
        return {}


def _is_doubtful(exercise: Exercise, runs: Runs) -> bool:
    try:
        return bool(bugs_are_caught(exercise, runs) or hints_fit(exercise, runs))
    except (CourseError, OSError):  # bugs that cannot be read: the gates say so
        return True
