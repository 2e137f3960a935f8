"""Who else answers like that? A failing test is run again on each known bug; equal wrong answers name the mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.bugs import Bug, bug_file, may_show_in, read_bugs
from kuiper.course.comparison import difference
from kuiper.course.errors import CourseError
from kuiper.course.observation import Raised
from kuiper.course.testing import Mismatch

if TYPE_CHECKING:
    from kuiper.course.classroom import Classroom
    from kuiper.course.implementation import Implementation
    from kuiper.course.manifest import Exercise

MOST_TESTS = 5  # failing tests of one exercise that are looked into: enough to tell bugs apart, soon done


def diagnose(
    classroom: Classroom, exercise: Exercise, item: pytest.Function, error: BaseException, function: str
) -> list[str]:
    """What the bugs that give the very same wrong answer to the very same call are about.

    ``function`` is the one that the failure belongs to. A bug of another function may answer alike, but its own tests
    would have failed first.
    """
    if not isinstance(error, Mismatch) or isinstance(error.got, Raised):
        return []
    try:
        bugs = [bug for bug in read_bugs(exercise) if may_show_in(exercise, bug, function)]
        return [bug.when for bug in bugs if _answers_alike(error, run_on(classroom, exercise, bug, item))]
    except CourseError:  # a bank that cannot be read is the author's affair: the gates report it
        return []


def run_on(classroom: Classroom, exercise: Exercise, bug: Bug, item: pytest.Function) -> BaseException | None:
    """How a test that has been set up ends on a bug; None if it passes."""
    selection = classroom.selection_for(exercise).with_path(exercise, bug_file(exercise, bug))
    return run_with(item, classroom.implementation(exercise, selection))


def run_with(item: pytest.Function, impl: Implementation) -> BaseException | None:
    """Run a test's body with another implementation."""
    names = item._fixtureinfo.argnames
    arguments: dict[str, Any] = {name: item.funcargs[name] for name in names}
    try:
        item.obj(**{**arguments, "impl": impl})
    except (Exception, pytest.fail.Exception) as error:
        return error
    return None


def _answers_alike(error: Mismatch, other: BaseException | None) -> bool:
    if not isinstance(other, Mismatch) or isinstance(other.got, Raised) or other.call != error.call:
        return False
    return difference(other.got, error.got, 1e-6) is None
