"""Who else answers like that? The call that fails is made on each known mistake; equal wrong answers name it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.bugs import Bug, bug_file, may_show_in, read_bugs
from kuiper.course.comparison import difference
from kuiper.course.errors import CourseError
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.testing import Mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kuiper.course.classroom import Classroom
    from kuiper.course.implementation import Implementation
    from kuiper.course.manifest import Exercise

MOST_TESTS = 5  # failing tests of one exercise that are looked into, as long as they may tell mistakes apart
BUG_SECONDS = 1.0  # that a call may take on a mistake: what takes longer is an endless loop
VARIANT = re.compile(r"__\d+\b")
TOLERANCE = 1e-6


def candidates(exercise: Exercise, function: str) -> list[Bug]:
    """The known mistakes that a failure may be about, before anything was run.

    ``function`` is the one that the failure belongs to. A bug of another function may answer alike, but its own tests
    would have failed first. None where the bank cannot be read, which is its author's affair: the gates report it.
    """
    try:
        return [bug for bug in read_bugs(exercise) if may_show_in(exercise, bug, function)]
    except CourseError:
        return []


def alike(
    classroom: Classroom, exercise: Exercise, bugs: Iterable[Bug], item: pytest.Function, error: BaseException
) -> list[Bug]:
    """Those of the bugs that give the very same wrong answer to the very same call of a test, or raise the same.

    First only the call that failed is made on each; the whole test, whose other calls must pass, on those left then. A
    property test is not run again: it would make hundreds of calls to find its example.
    """
    made = error.made if isinstance(error, Mismatch) else None
    is_property = hasattr(item.obj, "hypothesis")
    if not isinstance(error, (Mismatch, StudentError)) or (is_property and made is None):
        return []
    try:
        among = read_bugs(exercise)
        found = []
        for bug in bugs:
            impl = _implementation(classroom, exercise, bug, among, BUG_SECONDS)
            if made is not None and not _answers_alike(error, made.on(impl)):
                continue
            if is_property or _answers_alike(error, run_with(item, impl)):
                found.append(bug)
    except CourseError:
        return []
    return found


def run_on(
    classroom: Classroom, exercise: Exercise, bug: Bug, among: Sequence[Bug], item: pytest.Function
) -> BaseException | None:
    """How a test that has been set up ends on a bug, one ``among`` those of its exercise; None if it passes."""
    return run_with(item, _implementation(classroom, exercise, bug, among))


def run_with(item: pytest.Function, impl: Implementation) -> BaseException | None:
    """Run a test's body with another implementation."""
    names = item._fixtureinfo.argnames
    arguments: dict[str, Any] = {name: item.funcargs[name] for name in names}
    try:
        item.obj(**{**arguments, "impl": impl})
    except (Exception, pytest.fail.Exception) as error:
        return error
    return None


def _implementation(
    classroom: Classroom, exercise: Exercise, bug: Bug, among: Sequence[Bug], seconds: float | None = None
) -> Implementation:
    selection = classroom.selection_for(exercise).with_path(exercise, bug_file(exercise, bug, among))
    return classroom.implementation(exercise, selection, seconds)


def _answers_alike(error: Mismatch | StudentError, other: BaseException | None) -> bool:
    if isinstance(error, StudentError):
        if not isinstance(other, StudentError) or other.function != error.function:
            return False
        return _raised(other.raised) == _raised(error.raised)
    if not isinstance(other, Mismatch) or other.call != error.call:
        return False
    if isinstance(other.got, Raised) or isinstance(error.got, Raised):
        return _raised(other.got) == _raised(error.got)
    return difference(other.got, error.got, TOLERANCE) is None


def _raised(got: Any) -> tuple[str, str] | None:
    """Type and message; of a loop only the type, for each may have another limit."""
    if not isinstance(got, Raised):
        return None
    return got.type, "" if got.type == "EndlessLoop" else VARIANT.sub("", got.message)
