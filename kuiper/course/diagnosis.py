"""Who else answers like that? The call that fails is made on each known mistake; equal wrong answers name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.bugs import Bug, bug_file, may_show_in, read_bugs
from kuiper.course.comparison import difference
from kuiper.course.errors import CourseError
from kuiper.course.implementation import StudentError
from kuiper.course.observation import Raised
from kuiper.course.testing import UNREFUSED, Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kuiper.course.classroom import Classroom
    from kuiper.course.implementation import Implementation
    from kuiper.course.manifest import Exercise

MOST_TESTS = 5  # failing tests of one exercise that are looked into, as long as they may tell mistakes apart
MOST_PASSED = 30  # passed tests, before the first failure and behind it, that are to pass on a mistake, too
BUG_SECONDS = 1.0  # that a call may take on a mistake: what takes longer is an endless loop
VARIANT = re.compile(r"__\d+\b")
QUOTED = re.compile(r"'([^']*)'")
WORDS = re.compile(r"[\w.@]*\w|[^\w\s]")
TOLERANCE = 1e-6


class Likeness(IntEnum):
    """How far an answer is that of a mistake."""

    NONE = 0
    IN_KIND = 1  # both raise an error of this type on purpose, each in words of its own; or both fail to refuse a case
    EXACT = 2


@dataclass(frozen=True)
class Passed:
    """A test that the student's code passes, and what the test was given: pytest forgets it."""

    body: Callable[..., Any]
    arguments: dict[str, Any]

    @classmethod
    def of(cls, item: pytest.Function) -> Passed:
        """A test that has just run."""
        return cls(item.obj, {name: item.funcargs[name] for name in item._fixtureinfo.argnames})

    def passes(self, impl: Implementation) -> bool:
        """Whether another implementation passes it, too."""
        return _run(self.body, self.arguments, impl) is None


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
    classroom: Classroom,
    exercise: Exercise,
    bugs: Iterable[Bug],
    item: pytest.Function,
    error: BaseException,
    passed: Sequence[Passed] = (),
) -> list[Bug]:
    """Those of the bugs that give the very same wrong answer to the very same call of a test, or raise the same.

    First only the call that failed is made on each; the whole test, whose other calls must pass, on those left then. A
    property test is not run again: it would make hundreds of calls to find its example. Last come the tests that the
    student has ``passed``: a bug that fails one of them is another mistake. An error with a message of the student's
    own is compared by its type only, if no bug has the message.
    """
    made = error.made if isinstance(error, Mismatch) else None
    is_property = hasattr(item.obj, "hypothesis")
    if not isinstance(error, (Mismatch, StudentError)) or (is_property and made is None):
        return []
    try:
        among = read_bugs(exercise)
        found: dict[Likeness, list[Bug]] = {Likeness.EXACT: [], Likeness.IN_KIND: []}
        for bug in bugs:
            impl = _implementation(classroom, exercise, bug, among, BUG_SECONDS)
            how = Likeness.EXACT if made is None else _likeness(error, made.on(impl))
            if how and not is_property:
                how = min(how, _likeness(error, run_with(item, impl)))
            if how:
                found[how].append(bug)
        for bugs_found in found.values():
            left = passing(classroom, exercise, bugs_found, passed)
            if left:
                return left
    except CourseError:
        return []
    return []


def passing(classroom: Classroom, exercise: Exercise, bugs: Iterable[Bug], passed: Sequence[Passed]) -> list[Bug]:
    """Those of the bugs that pass these tests.

    Raises
    ------
    CourseError
        If the bank cannot be read.
    """
    among = read_bugs(exercise)
    found = [(bug, _implementation(classroom, exercise, bug, among, BUG_SECONDS)) for bug in bugs]
    return [bug for bug, impl in found if all(test.passes(impl) for test in passed)]


def run_on(
    classroom: Classroom, exercise: Exercise, bug: Bug, among: Sequence[Bug], item: pytest.Function
) -> BaseException | None:
    """How a test that has been set up ends on a bug, one ``among`` those of its exercise; None if it passes."""
    return run_with(item, _implementation(classroom, exercise, bug, among))


def run_with(item: pytest.Function, impl: Implementation) -> BaseException | None:
    """Run a test's body with another implementation."""
    return _run(item.obj, Passed.of(item).arguments, impl)


def _run(body: Callable[..., Any], arguments: dict[str, Any], impl: Implementation) -> BaseException | None:
    try:
        body(**{**arguments, "impl": impl})
    except (Exception, pytest.fail.Exception) as error:
        return error
    return None


def _implementation(
    classroom: Classroom, exercise: Exercise, bug: Bug, among: Sequence[Bug], seconds: float | None = None
) -> Implementation:
    selection = classroom.selection_for(exercise).with_path(exercise, bug_file(exercise, bug, among))
    return classroom.implementation(exercise, selection, seconds)


def _likeness(error: Mismatch | StudentError, other: BaseException | None) -> Likeness:
    if isinstance(error, StudentError):
        if not isinstance(other, StudentError) or other.function != error.function:
            return Likeness.NONE
        return _raised_alike(error.raised, other.raised)
    if not isinstance(other, Mismatch) or other.call != error.call:
        return Likeness.NONE
    if error.words in UNREFUSED and other.words in UNREFUSED:
        return _unrefused_alike(error.got, other.got)
    if isinstance(other.got, Raised) or isinstance(error.got, Raised):
        return _raised_alike(error.got, other.got, error.call[0])
    return Likeness.EXACT if difference(other.got, error.got, TOLERANCE) is None else Likeness.NONE


def _raised_alike(one: Any, other: Any, call: str = "") -> Likeness:
    """By type and message; of a loop only the type, for each may have another limit.

    Messages in words of their own may not speak of different texts of the call.
    """
    if not isinstance(one, Raised) or not isinstance(other, Raised) or one.type != other.type:
        return Likeness.NONE
    if one.type == "EndlessLoop" or VARIANT.sub("", one.message) == VARIANT.sub("", other.message):
        return Likeness.EXACT
    if not (one.is_on_purpose and other.is_on_purpose):
        return Likeness.NONE
    texts = [text for quoted in QUOTED.findall(call) for text in (quoted, *quoted)]
    named, others = ({text for text in texts if text in WORDS.findall(raised.message)} for raised in (one, other))
    return Likeness.NONE if named and others and not named & others else Likeness.IN_KIND


def _unrefused_alike(one: Any, other: Any) -> Likeness:
    """What comes of a case that nobody refuses depends on how the rest is written. A wrong message must be the same."""
    if _raised_alike(one, other) == Likeness.EXACT:
        return Likeness.EXACT
    raised = [got for got in (one, other) if isinstance(got, Raised)]
    if any(got.is_on_purpose for got in raised):
        return Likeness.NONE
    return Likeness.IN_KIND if raised or difference(other, one, TOLERANCE) else Likeness.EXACT
