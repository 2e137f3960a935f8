"""What is wrong with a student's file, from one failing test to the next: known mistakes, repairs of the file, slips.

first failure   known mistakes -> changes that mend the file -> slips of the solution that answer alike
later ones      which of these is it, is it one of these at all?
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pytest

from kuiper.course.causes import certain_cause, has_precise_cause, typical_cause
from kuiper.course.classroom import does_not_compile
from kuiper.course.diagnosis import MAX_PASSED, MAX_TESTS, Ran, alike, is_diagnosed, passing, repairs, slips
from kuiper.course.elsewhere import raised_elsewhere
from kuiper.course.error_causes import ENDING_ALIKE
from kuiper.course.evident import evident_cause, evident_if_unknown, mended
from kuiper.course.likeness import Likeness
from kuiper.course.own_file import seen, unused
from kuiper.course.properties import property_of
from kuiper.course.pytest_selection import EXERCISE
from kuiper.course.suspects import known_mistakes
from kuiper.course.telling_tests import telling
from kuiper.course.testing import NOT_FILLED, Mismatch
from kuiper.language import _

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from kuiper.course.classroom import Classroom
    from kuiper.course.manifest import Exercise
    from kuiper.course.suspects import Suspect

MAX_RANK = 2  # of a slip that may replace a known mistake
MAX_UNSPOILT = 150  # passed tests that are to pass with a change of the student's file, too
MAX_ASKED = 4  # suspects that are asked about tests behind the failure that pass: more are told apart by what fails


@dataclass
class Investigation:
    """Of one exercise. ``told`` lets a student who waits know what for."""

    classroom: Classroom
    exercise: Exercise
    told: Callable[[str], contextlib.AbstractContextManager[None]]
    suspects: list[Suspect] | None = None
    """None before the first failure."""
    asked: int = 0
    """How many tests behind the first failure have been asked."""
    function: str = ""
    """The one that fails."""
    failures: list[tuple[Ran, BaseException]] = field(default_factory=list)
    passed: list[Ran] = field(default_factory=list)
    passed_before: list[Ran] = field(default_factory=list)
    """The first failure."""
    behind: list[Ran] = field(default_factory=list)
    """The tests behind the failure that is looked into."""

    def of_failure(self, item: pytest.Item, error: BaseException, function: str) -> list[str]:
        """What known mistakes the first failure, which is shown, is like; else its typical cause.

        Further tests of the same function are asked which of these it is, and whether it is one of these at all.
        """
        if not isinstance(item, pytest.Function):
            return []
        failed, left, exercise = Ran.of(item), self.suspects, self.exercise
        self.behind = _behind(item, exercise)
        if left is None:
            evident = raised_elsewhere(self.classroom, exercise, failed, error)
            evident = evident or evident_cause(exercise, text_of(self.classroom, exercise), function, error)
            with self.told(_("comparing with known mistakes")):
                found = [] if evident else self._suspects(failed, error, function)
            if not found and not evident:
                evident = evident_if_unknown(exercise, error) or typical_cause(error)
            self.suspects, self.function, self.failures = found, function, [(failed, error)]
            return [suspect.when for suspect in found] or [*filter(None, [evident])]
        if function != self.function or any(suspect.is_certain for suspect in left):
            return []
        if self.asked + 1 >= MAX_TESTS or not is_diagnosed(failed, error):
            return []
        self.asked += 1
        found = alike(self.classroom, exercise, left, failed, error).suspects
        if left and not found and not any(suspect.line > 0 for suspect in left) and self.asked == 1:
            with self.told(_("looking for another mistake than the known ones")):
                found = self._rivals(failed, error)
            self.suspects = [*left, *found]
        self.failures.append((failed, error))
        return [suspect.when for suspect in found]

    def of_pass(self, item: pytest.Item) -> list[str]:
        """The known mistakes that pass a test as the student does: kept for the first failure, or asked behind it."""
        if not isinstance(item, pytest.Function) or property_of(item.obj):
            return []
        self.passed.append(Ran.of(item))
        left = self.suspects or []
        if not 1 < len(left) <= MAX_ASKED or len(self.passed) > MAX_PASSED:
            return []
        return [each.when for each in passing(self.classroom, self.exercise, left, self.passed[-1:])]

    def _rivals(self, failed: Ran, error: BaseException) -> list[Suspect]:
        """Repairs of all failures so far, or natural slips, where what explains the first does not explain this."""
        classroom, exercise, passed = self.classroom, self.exercise, [*self.passed_before, *self.passed][:MAX_PASSED]
        found: list[Suspect] = []
        for look in (partial(repairs, behind=self.behind), slips):
            found = look(classroom, exercise, self.function, failed, error, passed).suspects
            for other, earlier in self.failures:
                found = alike(classroom, exercise, found, other, earlier).suspects
            found = [suspect for suspect in found if suspect.rank <= MAX_RANK or suspect.is_right]
            if found:
                break
        return found

    def _suspects(self, failed: Ran, error: BaseException, function: str) -> list[Suspect]:
        """Known mistakes; where there are none, what mends the student's file, and where nothing does, slips."""
        if does_not_compile(error):
            return []
        classroom, exercise = self.classroom, self.exercise
        before, self.passed = self.passed, []
        passed = self.passed_before = telling(exercise, function, before)[:MAX_PASSED]
        shown = seen(classroom, exercise, function)
        if shown:
            return shown
        found = alike(classroom, exercise, known_mistakes(exercise, function), failed, error, passed)
        is_not_filled = isinstance(error, Mismatch) and error.words == NOT_FILLED  # a loop may make too few turns
        is_certain = certain_cause(error) or evident_if_unknown(exercise, error)
        if found.how > Likeness.LOOSE or (is_certain and not is_not_filled):
            return found.suspects
        natural = mended(exercise, text_of(classroom, exercise), error)
        natural = alike(classroom, exercise, natural, failed, error, before[-MAX_UNSPOILT:]).suspects
        if natural:
            return natural
        repaired = repairs(classroom, exercise, function, failed, error, before[-MAX_UNSPOILT:], self.behind)
        # Slips would fit that have nothing to do with it.
        is_told = certain_cause(error) or has_precise_cause(error) or typical_cause(error) in ENDING_ALIKE
        if repaired.how == Likeness.EXACT or is_told:
            return repaired.suspects
        missed = unused(classroom, exercise, function)
        if missed:
            return missed
        slipped = slips(classroom, exercise, function, failed, error, passed)
        return max(repaired, slipped, found, key=lambda each: each.how).suspects


def text_of(classroom: Classroom, exercise: Exercise) -> str:
    """The file that is tested."""
    path = classroom.selection_for(exercise).path(exercise)
    return path.read_text(encoding="utf-8", errors="replace")


def _behind(item: pytest.Function, exercise: Exercise) -> list[Ran]:
    """Tests of an exercise that are still to run; in a long row each second one or fewer."""
    items = item.session.items
    rest = [
        Ran.before(other)
        for other in items[items.index(item) + 1 :]
        if isinstance(other, pytest.Function)
        and other.stash.get(EXERCISE, None) is exercise
        and not property_of(other.obj)
    ]
    found = [test for test in rest if test is not None]
    return found[:: max(1, -(-len(found) // MAX_PASSED))]
