"""Who else answers like that? The call that fails is made on each known mistake; equal wrong answers name it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from kuiper.course.bugs import Bug, bug_file
from kuiper.course.causes import has_precise_cause, is_python_s_own, raised_in, typical_cause
from kuiper.course.errors import CourseError
from kuiper.course.implementation import Recorded, StudentError, Trier
from kuiper.course.likeness import BEST_FIRST, Likeness, likeness
from kuiper.course.observation import Observation, Raised
from kuiper.course.phrases import phrase
from kuiper.course.properties import property_of
from kuiper.course.repairs import ELSE, is_removal, undoes
from kuiper.course.statement_mutants import is_missing_check
from kuiper.course.suspects import Slips, Suspect, are_telling
from kuiper.course.testing import UNREFUSED, Call, Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kuiper.course.classroom import Classroom
    from kuiper.course.implementation import Implementation
    from kuiper.course.manifest import Exercise

MUTANT_SECONDS = 0.45  # of CPU time for slips
REPAIR_SECONDS = 0.6  # of CPU time for changes of the student's own file
TRIAL_SECONDS = 10.0  # until a process that tries variants counts as lost
CONFIRM_SECONDS = 0.25  # of this process's CPU time, for the tests that a suspect must pass: the worker takes as long
MAX_SLIPS = 12  # slips that answer the failing call alike, and are looked at further
MAX_REPAIRS = 24  # that mend the failing call, and are looked at further
MAX_RANK = 2  # of a slip that explains why a case is not refused
MAX_TESTS = 5  # failing tests of one exercise that are looked into, as long as they may tell mistakes apart
MAX_PASSED = 30  # passed tests, before the first failure and behind it, that are to pass on a mistake, too
BUG_SECONDS = 1.0  # that a call may take on a mistake: what takes longer is an endless loop
NO_ANSWER = CourseError("variant", "an answer", "none")


class Found(NamedTuple):
    """The suspects that answer as the student does, all equally alike."""

    suspects: list[Suspect]
    how: Likeness


NOTHING = Found([], Likeness.NONE)


@dataclass(frozen=True)
class Ran:
    """A test that has run, and what it was given: pytest forgets it."""

    body: Callable[..., Any]
    arguments: dict[str, Any]

    @classmethod
    def of(cls, item: pytest.Function) -> Ran:
        """A test that has just run."""
        return cls(item.obj, {name: item.funcargs[name] for name in item._fixtureinfo.argnames})

    @classmethod
    def before(cls, item: pytest.Function) -> Ran | None:
        """A test that has not run yet; None if it needs what pytest makes for it only then."""
        given = {**getattr(getattr(item, "callspec", None), "params", {}), "impl": None}
        names = item._fixtureinfo.argnames
        return cls(item.obj, {name: given[name] for name in names}) if given.keys() >= set(names) else None

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
        return NOTHING
    likenesses = [Likeness.EXACT] * len(suspects)
    if made is not None:
        found = _tried(classroom, exercise, made, {"texts": [suspect.text for suspect in suspects]})
        ends = _ends(classroom, exercise, made, found, "texts") or [NO_ANSWER] * len(suspects)
        likenesses = [_how(suspect, error, end) for suspect, end in zip(suspects, ends, strict=True)]
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
    if not isinstance(error, Mismatch):
        return NOTHING
    made = error.made
    if made is None or not exercise.solution_file.is_file():  # a class may have been handed none
        return NOTHING
    slips_of = Slips(exercise, classroom.selection_for(exercise).path(exercise), function)
    asked = {"known": slips_of.known, "function": function, "seconds": MUTANT_SECONDS}
    found = _tried(classroom, exercise, made, asked)
    how = [likeness(error, end) for end in _ends(classroom, exercise, made, found, "mutants")]
    for least in BEST_FIRST:
        numbers = [number for number, likeness in enumerate(how) if likeness == least]
        suspects = slips_of.suspects(numbers, 2 if _is_endless(error) else MAX_SLIPS)
        if is_python_s_own(error):  # any slip may end with it that leads to the same operation
            suspects = [suspect for suspect in suspects if is_missing_check(suspect.when)]
        # Where nothing refuses a case, the check is missing more naturally than one of its names is another.
        pairs = [(each, least) for each in suspects if each.rank <= MAX_RANK or error.words not in UNREFUSED]
        confirmed = _confirmed(classroom, exercise, pairs, failed, error, passed)
        if confirmed.suspects and _is_endless(error):
            named = [
                replace(each, when=phrase("a loop never ends: {slip}", slip=each.when)) for each in confirmed.suspects
            ]
            return Found(named, least)
        if confirmed.suspects:
            return confirmed if are_telling(confirmed.suspects) else NOTHING
    return NOTHING


def repairs(
    classroom: Classroom,
    exercise: Exercise,
    function: str,
    failed: Ran,
    error: BaseException,
    passed: Sequence[Ran] = (),
    behind: Sequence[Ran] = (),
) -> Found:
    """The changes of one place of the student's file with which the test passes, and what has passed before, too.

    Of the tests ``behind`` this one they pass what the student does; those that pass most of them are left. Where their
    words say only in which line the mistake is, they count as less alike; where a typical cause is known, not at all.
    What raises an error that says itself what is wrong is not mended by leaving it out.
    """
    made = error.made if isinstance(error, Mismatch) else None
    if made is None or not exercise.solution_file.is_file():
        return NOTHING
    slips_of = Slips(exercise, classroom.selection_for(exercise).path(exercise), function, own=True)
    found = _tried(classroom, exercise, made, {"own": slips_of.text, "function": function, "seconds": REPAIR_SECONDS})
    numbers = [n for n, end in enumerate(_ends(classroom, exercise, made, found, "repairs")) if end is None]
    mending = slips_of.suspects(numbers, MAX_REPAIRS) if numbers else []  # else it may be Cython that is not known
    pairs = [(suspect, Likeness.EXACT) for suspect in sorted(mending, key=lambda each: each.rank)]
    left = _confirmed(classroom, exercise, pairs, failed, error, passed).suspects
    left = _not_worse(classroom, exercise, left, behind)
    left = [suspect for suspect in left if not (is_removal(suspect.when) and has_precise_cause(error))]
    left = [suspect for suspect in left if not any(undoes(suspect.when, other.when) for other in left)]
    plain = [suspect for suspect in left if not suspect.when.startswith(ELSE)]
    if not plain and typical_cause(error):
        return NOTHING
    if _is_endless(error):
        plain = [replace(each, when=phrase("a loop never ends: {slip}", slip=each.when)) for each in plain]
    return Found(plain or left, Likeness.EXACT if plain else Likeness.IN_KIND if left else Likeness.NONE)


def is_diagnosed(failed: Ran, error: BaseException) -> bool:
    """Whether there is a call that can be made on others."""
    return (isinstance(error, Mismatch) and (error.made is not None or not failed.is_property)) or (
        isinstance(error, StudentError) and not failed.is_property
    )


def _tried(classroom: Classroom, exercise: Exercise, made: Call, asked: dict[str, Any]) -> dict[str, Any]:
    """What variants answer to a call."""
    solution = exercise.solution_file.read_text(encoding="utf-8")
    asked = {"solution": solution, "texts": [], "seconds": 0.0, "known": [], "function": "", "own": "", **asked}
    trier = Trier(exercise, classroom.selection_for(exercise), classroom.worker(), asked, TRIAL_SECONDS)
    made.on(trier)
    return trier.found if isinstance(trier.found, dict) else {"seen": [], "texts": [], "mutants": [], "repairs": []}


def _ends(
    classroom: Classroom, exercise: Exercise, made: Call, found: dict[str, Any], kind: str
) -> list[BaseException | None]:
    """How the call ends on variants; each different answer is judged once."""
    of: list[BaseException | None] = []
    for value, raised, changed in found["seen"]:
        seen = Observation(value, raised and Raised(*raised), changed)
        of.append(made.on(Recorded(exercise, classroom.selection_for(exercise), seen)))
    return [of[number] if number >= 0 else NO_ANSWER for number in found[kind]]


def _how(suspect: Suspect, error: Any, other: BaseException | None) -> Likeness:
    """How far a suspect is behind an error, if it ends with the other: a file that is right ends with none."""
    if suspect.is_right:
        return Likeness.EXACT if other is None else Likeness.NONE
    return likeness(error, other)


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
        if not failed.is_property and (suspect.is_right or not _is_endless(error)):  # each slip would take its limit
            how = min(how, _how(suspect, error, failed.error_on(_implementation(classroom, exercise, suspect))))
        if how:
            found[how].append(suspect)
    for how, suspects in found.items():
        left = passing(classroom, exercise, suspects, passed)
        if left:
            return Found(left, how)
    return NOTHING


def _is_endless(error: BaseException) -> bool:
    raised = raised_in(error)
    return raised is not None and raised.type == "EndlessLoop"


def passing(
    classroom: Classroom, exercise: Exercise, suspects: Iterable[Suspect], passed: Sequence[Ran]
) -> list[Suspect]:
    """Those of the suspects that pass these tests; of slips, which may be many, only those there is time for."""
    found, end = [], time.process_time() + CONFIRM_SECONDS
    for suspect in suspects:
        if suspect.line and time.process_time() > end:
            break  # but a known mistake that is left out untried would leave another one to be named
        impl = _implementation(classroom, exercise, suspect)
        if all(test.error_on(impl) is None for test in passed):
            found.append(suspect)
    return found


def _not_worse(
    classroom: Classroom, exercise: Exercise, suspects: Iterable[Suspect], behind: Sequence[Ran]
) -> list[Suspect]:
    """Those that pass each of these tests that the student passes; of them those that pass most."""
    student, end = classroom.implementation(exercise), time.process_time() + CONFIRM_SECONDS
    passes: dict[int, bool] = {}
    counts: list[tuple[int, Suspect]] = []
    for suspect in suspects:
        impl, count = _implementation(classroom, exercise, suspect), 0
        for number, test in enumerate(behind):
            if time.process_time() > end:
                break
            if test.error_on(impl) is None:
                count += 1
            else:
                if number not in passes:
                    passes[number] = test.error_on(student) is None
                if passes[number]:
                    break
        else:
            counts.append((count, suspect))
    most = max((count for count, _ in counts), default=0)
    return [suspect for count, suspect in counts if count == most]


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
