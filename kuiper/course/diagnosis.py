"""Who else answers like that? The call that fails is made on each known mistake; equal wrong answers name it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from kuiper.course.bugs import Bug, bug_file
from kuiper.course.comparison import difference
from kuiper.course.implementation import Recorded, StudentError, Trier
from kuiper.course.observation import Observation, Raised
from kuiper.course.properties import property_of
from kuiper.course.suspects import Slips, Suspect
from kuiper.course.testing import UNREFUSED, Call, Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kuiper.course.classroom import Classroom
    from kuiper.course.implementation import Implementation
    from kuiper.course.manifest import Exercise

MUTANT_SECONDS = 0.6  # of CPU time for slips
TRIAL_SECONDS = 10.0  # until a process that tries variants counts as lost
CONFIRM_SECONDS = 0.25  # of this process's CPU time, for the tests that a suspect must pass: the worker takes as long
MAX_SLIPS = 12  # slips that answer the failing call alike, and are looked at further
MAX_TESTS = 5  # failing tests of one exercise that are looked into, as long as they may tell mistakes apart
MAX_PASSED = 30  # passed tests, before the first failure and behind it, that are to pass on a mistake, too
BUG_SECONDS = 1.0  # that a call may take on a mistake: what takes longer is an endless loop
VARIANT = re.compile(r"__\d+\b")
QUOTED = re.compile(r"'([^']*)'")
WORDS = re.compile(r"[\w.@]*\w|[^\w\s]")
NUMBER = re.compile(r"\d+")
TOLERANCE = 1e-6


class Likeness(IntEnum):
    """How far an answer is that of a mistake."""

    NONE = 0
    OTHER_NUMBERS = 1  # as IN_KIND, but the words of each have numbers, and none is in both: one is of another mistake
    IN_KIND = 2  # both raise an error of this type on purpose, each in words of its own; or both fail to refuse a case
    EXACT = 3


BEST_FIRST = (Likeness.EXACT, Likeness.IN_KIND, Likeness.OTHER_NUMBERS)


class Found(NamedTuple):
    """The suspects that answer as the student does, all equally alike."""

    suspects: list[Suspect]
    how: Likeness


@dataclass(frozen=True)
class Ran:
    """A test that has run, and what it was given: pytest forgets it."""

    body: Callable[..., Any]
    arguments: dict[str, Any]

    @classmethod
    def of(cls, item: pytest.Function) -> Ran:
        """A test that has just run."""
        return cls(item.obj, {name: item.funcargs[name] for name in item._fixtureinfo.argnames})

    def error_on(self, impl: Implementation) -> BaseException | None:
        """How it ends on another implementation; None if it passes."""
        try:
            self.body(**{**self.arguments, "impl": impl})
        except (Exception, pytest.fail.Exception) as error:
            return error
        return None

    @property
    def is_property(self) -> bool:
        """Whether it makes hundreds of calls to find its example."""
        return property_of(self.body) is not None


def alike(
    classroom: Classroom,
    exercise: Exercise,
    suspects: Sequence[Suspect],
    failed: Ran,
    error: BaseException,
    passed: Sequence[Ran] = (),
) -> Found:
    """Those of the suspects that give the very same wrong answer to the very same call of a test, or raise the same.

    First only the call that failed is made, on all of them at once; the whole test, whose other calls must pass, on
    those left then. A property test is not run again: it would make hundreds of calls to find its example. Last come
    the tests that the student has ``passed``: a mistake that fails one of them is another one. An error with a message
    of the student's own is compared by its type only, if no suspect has the message.
    """
    made = error.made if isinstance(error, Mismatch) else None
    if not suspects or not is_diagnosed(failed, error):
        return Found([], Likeness.NONE)
    likenesses = [Likeness.EXACT] * len(suspects)
    if made is not None:
        found = _tried(classroom, exercise, made, {"texts": [suspect.text for suspect in suspects]})
        likenesses = _likenesses(classroom, exercise, error, made, found, "texts") or [Likeness.NONE] * len(suspects)
    pairs = [(suspect, how) for suspect, how in zip(suspects, likenesses, strict=True) if how]
    return _confirmed(classroom, exercise, pairs, failed, error, passed)


def slips(
    classroom: Classroom,
    exercise: Exercise,
    function: str,
    failed: Ran,
    error: BaseException,
    passed: Sequence[Ran] = (),
) -> Found:
    """The slips that answer as the student does: a solution with one place changed, tried for MUTANT_SECONDS."""
    made = error.made if isinstance(error, Mismatch) else None
    if made is None or not exercise.solution_file.is_file():  # a class may have been handed none
        return Found([], Likeness.NONE)
    slips_of = Slips(exercise, classroom.selection_for(exercise).path(exercise), function)
    asked = {"known": slips_of.known, "function": function, "seconds": MUTANT_SECONDS}
    found = _tried(classroom, exercise, made, asked)
    how = _likenesses(classroom, exercise, error, made, found, "mutants")
    for least in BEST_FIRST:
        numbers = [number for number, likeness in enumerate(how) if likeness == least]
        pairs = [(suspect, least) for suspect in slips_of.suspects(numbers, 2 if _is_endless(error) else MAX_SLIPS)]
        confirmed = _confirmed(classroom, exercise, pairs, failed, error, passed)
        if confirmed.suspects and _is_endless(error):
            named = [replace(each, when=f"a loop never ends: {each.when}") for each in confirmed.suspects]
            return Found(named, least)
        if confirmed.suspects:
            return confirmed
    return Found([], Likeness.NONE)


def is_diagnosed(failed: Ran, error: BaseException) -> bool:
    """Whether there is a call that can be made on others."""
    return (isinstance(error, Mismatch) and (error.made is not None or not failed.is_property)) or (
        isinstance(error, StudentError) and not failed.is_property
    )


def _tried(classroom: Classroom, exercise: Exercise, made: Call, asked: dict[str, Any]) -> dict[str, Any]:
    """What variants answer to a call."""
    solution = exercise.solution_file.read_text(encoding="utf-8")
    asked = {"solution": solution, "texts": [], "seconds": 0.0, "known": [], "function": "", **asked}
    trier = Trier(exercise, classroom.selection_for(exercise), classroom.worker(), asked, TRIAL_SECONDS)
    made.on(trier)
    return trier.found if isinstance(trier.found, dict) else {"seen": [], "texts": [], "mutants": []}


def _likenesses(
    classroom: Classroom, exercise: Exercise, error: Any, made: Call, found: dict[str, Any], kind: str
) -> list[Likeness]:
    """How far the answers of variants are the student's; of each different answer it is asked once."""
    of = []
    for value, raised, changed in found["seen"]:
        seen = Observation(value, raised and Raised(*raised), changed)
        other = made.on(Recorded(exercise, classroom.selection_for(exercise), seen))
        of.append(likeness(error, other))
    return [of[number] if number >= 0 else Likeness.NONE for number in found[kind]]


def _confirmed(
    classroom: Classroom,
    exercise: Exercise,
    pairs: Sequence[tuple[Suspect, Likeness]],
    failed: Ran,
    error: Any,
    passed: Sequence[Ran],
) -> Found:
    """Those that end the whole test alike, and pass what the student passes."""
    found: dict[Likeness, list[Suspect]] = {how: [] for how in BEST_FIRST}
    end = time.process_time() + CONFIRM_SECONDS
    for suspect, how in pairs:
        if time.process_time() > end:
            break
        if not failed.is_property and not _is_endless(error):  # each would run into its time limit
            how = min(how, likeness(error, failed.error_on(_implementation(classroom, exercise, suspect))))
        if how:
            found[how].append(suspect)
    for how, suspects in found.items():
        left = passing(classroom, exercise, suspects, passed)
        if left:
            return Found(left, how)
    return Found([], Likeness.NONE)


def _is_endless(error: Any) -> bool:
    raised = error.raised if isinstance(error, StudentError) else error.got
    return isinstance(raised, Raised) and raised.type == "EndlessLoop"


def passing(
    classroom: Classroom, exercise: Exercise, suspects: Iterable[Suspect], passed: Sequence[Ran]
) -> list[Suspect]:
    """Those of the suspects that pass these tests."""
    found, end = [], time.process_time() + CONFIRM_SECONDS
    for suspect in suspects:
        impl = _implementation(classroom, exercise, suspect)
        if time.process_time() < end and all(test.error_on(impl) is None for test in passed):
            found.append(suspect)
    return found


def run_on(
    classroom: Classroom, exercise: Exercise, bug: Bug, among: Sequence[Bug], item: pytest.Function
) -> BaseException | None:
    """How a test that has been set up ends on a bug, one ``among`` those of its exercise; None if it passes."""
    selection = classroom.selection_for(exercise).with_path(exercise, bug_file(exercise, bug, among))
    return Ran.of(item).error_on(classroom.implementation(exercise, selection))


def _implementation(classroom: Classroom, exercise: Exercise, suspect: Suspect) -> Implementation:
    selection = classroom.selection_for(exercise)
    path = suspect.file(exercise, selection.path(exercise))
    return classroom.implementation(exercise, selection.with_path(exercise, path), BUG_SECONDS)


def likeness(error: Mismatch | StudentError, other: BaseException | None) -> Likeness:
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
    if named and others and not named & others:
        return Likeness.NONE
    counted, others = (set(NUMBER.findall(raised.message)) for raised in (one, other))
    return Likeness.OTHER_NUMBERS if counted and others and not counted & others else Likeness.IN_KIND


def _unrefused_alike(one: Any, other: Any) -> Likeness:
    """What comes of a case that nobody refuses depends on how the rest is written. A wrong message must be the same."""
    if _raised_alike(one, other) == Likeness.EXACT:
        return Likeness.EXACT
    raised = [got for got in (one, other) if isinstance(got, Raised)]
    if any(got.is_on_purpose or got.type == "EndlessLoop" for got in raised):
        return Likeness.NONE
    return Likeness.IN_KIND if raised or difference(other, one, TOLERANCE) else Likeness.EXACT
