"""What happens to one test: its run, its run on the bugs of the exercise, and how it ended, in words."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.bugs import read_bugs
from kuiper.course.builder import is_compiled
from kuiper.course.call_script import call_script
from kuiper.course.causes import typical_cause
from kuiper.course.classroom import Outcome, UndoneError, does_not_compile, failing_function, in_words
from kuiper.course.compile_errors import shown
from kuiper.course.diagnosis import run_on
from kuiper.course.errors import CourseError
from kuiper.course.evident import say_what_is_asked
from kuiper.course.investigation import Investigation, text_of
from kuiper.course.patience import said_meanwhile, told_if_slow
from kuiper.course.places import folder
from kuiper.course.properties import property_of
from kuiper.course.pytest_selection import EXERCISE, SelectionPlugin
from kuiper.course.testing import Mismatch
from kuiper.course.wire import words_of
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from kuiper.course.bugs import Bug
    from kuiper.course.manifest import Exercise


class RunningPlugin:
    """The hooks of a test's call, and what it has raised; and which test has caught which bug."""

    def __init__(self, config: pytest.Config, selection: SelectionPlugin) -> None:
        self.config, self.selection = config, selection
        self.errors: dict[str, BaseException] = {}
        self.investigations: dict[str, Investigation] = {}
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
            say_what_is_asked(
                exercise, text_of(self.selection.classroom(exercise), exercise), error
            )  # before anybody reads it
        outcome = self.selection.classroom(exercise).judge(exercise, item.name, error)
        if outcome.verdict == "wrong" and error is not None and self._may_diagnose:
            investigation = self._investigation(exercise)
            asked = investigation.asked
            outcome.diagnosis = investigation.of_failure(item, error, outcome.function)
            outcome.is_asked = investigation.asked > asked
            outcome.is_known = bool(investigation.suspects)
            outcome.lines_of = {suspect.when: suspect.line for suspect in investigation.suspects or []}
            if outcome.is_known:
                outcome.cause = typical_cause(error)
        elif outcome.verdict == "passed" and self._may_diagnose:
            outcome.diagnosis = self._investigation(exercise).of_pass(item)
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

    def _investigation(self, exercise: Exercise) -> Investigation:
        if exercise.id not in self.investigations:
            classroom = self.selection.classroom(exercise)
            self.investigations[exercise.id] = Investigation(classroom, exercise, self._told)
        return self.investigations[exercise.id]

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
