"""What happens to one test: its run, its run on the bugs of the exercise, and how it ended, in words."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.bugs import read_bugs
from kuiper.course.builder import is_compiled
from kuiper.course.call_script import call_script
from kuiper.course.causes import certain_cause, has_precise_cause, typical_cause
from kuiper.course.classroom import Outcome, UndoneError, does_not_compile, failing_function, in_words
from kuiper.course.compile_errors import shown
from kuiper.course.diagnosis import (
    MAX_PASSED,
    MAX_TESTS,
    Ran,
    alike,
    is_diagnosed,
    passing,
    repairs,
    run_on,
    slips,
)
from kuiper.course.elsewhere import raised_elsewhere
from kuiper.course.error_causes import ENDING_ALIKE
from kuiper.course.errors import CourseError
from kuiper.course.evident import evident_cause, evident_if_unknown, mended, say_what_is_asked
from kuiper.course.likeness import Likeness
from kuiper.course.own_file import seen, unused
from kuiper.course.patience import said_meanwhile, told_if_slow
from kuiper.course.places import folder
from kuiper.course.properties import property_of
from kuiper.course.pytest_selection import EXERCISE, SelectionPlugin
from kuiper.course.suspects import known_mistakes
from kuiper.course.telling_tests import telling
from kuiper.course.testing import NOT_FILLED, Mismatch
from kuiper.course.wire import words_of
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from kuiper.course.bugs import Bug
    from kuiper.course.manifest import Exercise
    from kuiper.course.suspects import Suspect


MAX_RANK = 2  # of a slip that may replace a known mistake
MAX_UNSPOILT = 150  # passed tests that are to pass with a change of the student's file, too
MAX_ASKED = 4  # suspects that are asked about tests behind the failure that pass: more are told apart by what fails


class RunningPlugin:
    """The hooks of a test's call, and what it has raised; and which test has caught which bug."""

    def __init__(self, config: pytest.Config, selection: SelectionPlugin) -> None:
        self.config, self.selection = config, selection
        self.errors: dict[str, BaseException] = {}
        self.diagnosed: Counter[str] = Counter()
        self.candidates: dict[str, list[Suspect]] = {}
        self.functions: dict[str, str] = {}
        self.failures: dict[str, list[tuple[Ran, BaseException]]] = {}
        self.passed_before: dict[str, list[Ran]] = {}  # the first failure
        self.passed: dict[str, list[Ran]] = {}
        self.behind: list[Ran] = []  # the tests behind the failure that is looked into
        self.catches: list[tuple[str, str, str, str]] = []
        path = config.getoption("--catchers")
        self.catchers: dict[str, dict[str, str]] | None = path and json.loads(Path(path).read_text(encoding="utf-8"))

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Run a test if its exercise is ready, and keep the error that it raises."""
        exercise = pyfuncitem.stash.get(EXERCISE, None)
        if exercise is None:
            return (yield)
        try:
            self.selection.classroom(exercise).check_ready(exercise)
            if self._may_diagnose and property_of(pyfuncitem.obj):
                self.selection.classroom(exercise).check_examples(exercise)
            folder = pyfuncitem.funcargs.get("tmp_path")
            if isinstance(folder, Path):
                self.selection.classroom(exercise).lend(folder)
            with self._told(lambda: self._what_takes_long(exercise, pyfuncitem.name)):
                result = yield
        except Exception as error:
            if self._shows_traces and not isinstance(error, UndoneError):
                raise
            # pytest takes longer to draw a trace than most tests run, and nobody wants this one.
            self.errors[pyfuncitem.nodeid] = error
            raise pytest.fail.Exception(words_of(error), pytrace=False) from None
        if self._catches_file and "impl" in pyfuncitem.funcargs:
            self._run_bugs(exercise, pyfuncitem)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Judge what a test raised, and look for the mistake behind it."""
        exercise = item.stash.get(EXERCISE, None)
        if exercise is not None and call.excinfo and not getattr(call.excinfo.value, "pytrace", True):
            call.excinfo.traceback = call.excinfo.traceback[-1:]  # pytest shortens it, slowly, although nobody sees it
        made = yield
        if exercise is None or (call.when != "call" and made.passed):
            return made
        error = call.excinfo.value if call.excinfo else None
        error = self.errors.pop(item.nodeid, error)
        if isinstance(error, Mismatch):
            say_what_is_asked(exercise, self._text(exercise), error)  # before anybody reads it
        outcome = self.selection.classroom(exercise).judge(exercise, item.name, error)
        if outcome.verdict == "wrong" and error is not None and self._may_diagnose:
            asked = self.diagnosed[exercise.id]
            outcome.diagnosis = self._diagnose(exercise, item, error, outcome.function)
            outcome.is_asked = self.diagnosed[exercise.id] > asked
            outcome.is_known = bool(self.candidates.get(exercise.id))
            outcome.lines_of = {suspect.when: suspect.line for suspect in self.candidates.get(exercise.id, [])}
            if outcome.is_known:
                outcome.cause = typical_cause(error)
        elif outcome.verdict == "passed" and self._may_diagnose:
            outcome.diagnosis = self._agreeing(exercise, item)
        outcome.speak()
        if outcome.verdict == "wrong" and isinstance(error, Mismatch) and self.config.getoption("--call"):
            outcome.script = (
                call_script(error.made, exercise.id)
                if error.made
                else [_("# the whole test: {name}").format(name=item.nodeid)]
            )
        if made.skipped:
            outcome = Outcome(exercise.id, item.name, "skipped", [_("skipped: an exercise's tests may not be")])
            made.outcome = "failed"
        made.__dict__["kuiper"] = {"root": str(exercise.course.parent), **dataclasses.asdict(outcome)}
        if made.failed and not (self._shows_traces and outcome.verdict == "wrong"):
            likely = [_("likely: {mistake}").format(mistake=in_words(outcome, when)) for when in outcome.diagnosis]
            made.longrepr = "\n".join([*outcome.lines, *likely])
        return made

    def pytest_sessionfinish(self) -> None:
        if self._catches_file and not hasattr(self.config, "workerinput"):
            Path(self._catches_file).write_text(json.dumps(self.catches, indent=1), encoding="utf-8")

    @property
    def _catches_file(self) -> str:
        return self.config.getoption("--bugs") or self.config.getoption("--bugs-until-caught") or ""

    @property
    def _shows_traces(self) -> bool:
        return self.config.getoption("usepdb") or self.config.get_verbosity() >= 2

    def _run_bugs(self, exercise: Exercise, item: pytest.Function) -> None:
        """Property tests, which take long to fail, only meet the bugs that nothing else has caught."""
        sparing = self.config.getoption("--bugs-until-caught") or property_of(item.obj)
        caught = {(id_, name) for id_, name, *_ in self.catches} if sparing else set()
        bugs = read_bugs(exercise)
        for bug in bugs:
            try:
                if (exercise.id, bug.name) in caught or not self._may_meet(exercise, bug, item):
                    continue
                error = run_on(self.selection.classroom(exercise), exercise, bug, bugs, item)
                if error and not does_not_compile(error):  # with it, others would seem to be caught
                    function = failing_function(exercise, item.name, error)
                    self.catches.append((exercise.id, bug.name, item.name, function))
            except CourseError:  # a patch that does not fit; the bug gate reports it
                continue

    def _may_meet(self, exercise: Exercise, bug: Bug, item: pytest.Function) -> bool:
        """Whether this test is to run on a bug: each is, unless one was chosen."""
        return self.catchers is None or self.catchers.get(exercise.id, {}).get(bug.name) == item.name

    @property
    def _may_diagnose(self) -> bool:
        return self.config.getoption("--impl") == "student" and not self.config.getoption("--submission")

    def _diagnose(self, exercise: Exercise, item: pytest.Item, error: BaseException, function: str) -> list[str]:
        """What known mistakes the first failure of an exercise, which is shown, is like; else its typical cause.

        Further tests of the same function are asked which of these it is, and whether it is one of these at all.
        """
        if not isinstance(item, pytest.Function):
            return []
        failed, left = Ran.of(item), self.candidates.get(exercise.id)
        self.behind = _behind(item, exercise)
        if left is None:
            evident = raised_elsewhere(self.selection.classroom(exercise), exercise, failed, error)
            evident = evident or evident_cause(exercise, self._text(exercise), function, error)
            with self._told(_("comparing with known mistakes")):
                found = [] if evident else self._suspects(exercise, failed, error, function)
            if not found and not evident:
                evident = evident_if_unknown(exercise, error) or typical_cause(error)
            self.candidates[exercise.id], self.functions[exercise.id] = found, function
            self.failures[exercise.id] = [(failed, error)]
            return [suspect.when for suspect in found] or [*filter(None, [evident])]
        if function != self.functions[exercise.id] or any(suspect.is_certain for suspect in left):
            return []
        if self.diagnosed[exercise.id] + 1 >= MAX_TESTS or not is_diagnosed(failed, error):
            return []
        self.diagnosed[exercise.id] += 1
        found = alike(self.selection.classroom(exercise), exercise, left, failed, error).suspects
        if left and not found and not any(suspect.line > 0 for suspect in left) and self.diagnosed[exercise.id] == 1:
            with self._told(_("looking for another mistake than the known ones")):
                found = self._rivals(exercise, failed, error)
            self.candidates[exercise.id] = [*left, *found]
        self.failures[exercise.id].append((failed, error))
        return [suspect.when for suspect in found]

    def _rivals(self, exercise: Exercise, failed: Ran, error: BaseException) -> list[Suspect]:
        """Repairs of all failures so far, or natural slips, where what explains the first does not explain this."""
        classroom, function = self.selection.classroom(exercise), self.functions[exercise.id]
        passed = [*self.passed_before[exercise.id], *self.passed.get(exercise.id, [])][:MAX_PASSED]
        found: list[Suspect] = []
        for look in (partial(repairs, behind=self.behind), slips):
            found = look(classroom, exercise, function, failed, error, passed).suspects
            for other, earlier in self.failures[exercise.id]:
                found = alike(classroom, exercise, found, other, earlier).suspects
            found = [suspect for suspect in found if suspect.rank <= MAX_RANK or suspect.is_right]
            if found:
                break
        return found

    def _suspects(self, exercise: Exercise, failed: Ran, error: BaseException, function: str) -> list[Suspect]:
        """Known mistakes; where there are none, what mends the student's file, and where nothing does, slips."""
        if does_not_compile(error):
            return []
        classroom = self.selection.classroom(exercise)
        before = self.passed.pop(exercise.id, [])
        passed = self.passed_before[exercise.id] = telling(exercise, function, before)[:MAX_PASSED]
        shown = seen(classroom, exercise, function)
        if shown:
            return shown
        found = alike(classroom, exercise, known_mistakes(exercise, function), failed, error, passed)
        is_not_filled = isinstance(error, Mismatch) and error.words == NOT_FILLED  # a loop may make too few turns
        is_certain = certain_cause(error) or evident_if_unknown(exercise, error)
        if found.how > Likeness.LOOSE or (is_certain and not is_not_filled):
            return found.suspects
        natural = mended(exercise, self._text(exercise), error)
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

    def _text(self, exercise: Exercise) -> str:
        """The file that is tested."""
        path = self.selection.classroom(exercise).selection_for(exercise).path(exercise)
        return path.read_text(encoding="utf-8", errors="replace")

    def _agreeing(self, exercise: Exercise, item: pytest.Item) -> list[str]:
        """The known mistakes that pass a test as the student does: kept for the first failure, or asked behind it."""
        if not isinstance(item, pytest.Function) or property_of(item.obj):
            return []
        kept = self.passed.setdefault(exercise.id, [])
        kept.append(Ran.of(item))
        left = self.candidates.get(exercise.id, [])
        if not 1 < len(left) <= MAX_ASKED or len(kept) > MAX_PASSED:
            return []
        return [each.when for each in passing(self.selection.classroom(exercise), exercise, left, kept[-1:])]

    def _told(self, words: str | Callable[[], str]) -> contextlib.AbstractContextManager[None]:
        """A student who waits, before a terminal, is told what for."""
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or not reporter.isatty or not self._may_diagnose:
            return contextlib.nullcontext()
        capture = self.config.pluginmanager.get_plugin("capturemanager")
        say = partial(said_meanwhile, reporter, capture)
        return told_if_slow(say, words if callable(words) else lambda: words)

    def _what_takes_long(self, exercise: Exercise, test: str) -> str:
        """A compiler, or the student's own code."""
        classroom = self.selection.classroom(exercise)
        selection = classroom.selection_for(exercise)
        build = folder(classroom.syllabus.root, "build")
        for part in (exercise, *classroom.syllabus.needed_by(exercise)):
            path = selection.path(part)
            if part.is_cython and path.is_file() and not is_compiled(path, build):
                words = _("compiling {file}, once for each text of it (the first file of all takes longer)")
                return words.format(file=shown(path))
        words = _("{test} runs; a call that takes {seconds} seconds counts as an endless loop")
        return words.format(test=test, seconds=f"{exercise.timeout:.0f}")


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
