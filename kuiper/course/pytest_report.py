"""What a run has shown: letters, the report at its end, and what is kept for the next time."""

from __future__ import annotations

from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.classroom import Classroom, Outcome
from kuiper.course.hints import remember_failing
from kuiper.course.layout import folded
from kuiper.course.outcomes import OutcomeTable
from kuiper.course.pytest_selection import SelectionPlugin, exercise_id
from kuiper.course.speed import measure, speed_line
from kuiper.course.summary import (
    afterwards,
    changed_tests,
    counts,
    ending,
    miscounted,
    report,
    verdicts,
)
from kuiper.language import _, columns, noop, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LETTERS = {
    noop("wrong"): "F",
    noop("unfinished"): "u",
    noop("not started"): "-",
    noop("blocked"): "b",
    noop("waiting"): "p",
}


class ReportPlugin:
    """The hooks behind a test, and behind all of them; and how each test of each root ended."""

    def __init__(self, config: pytest.Config, selection: SelectionPlugin) -> None:
        self.config, self.selection = config, selection
        self.outcomes: dict[Path, list[Outcome]] = {}
        self.speeds: dict[Path, list[str]] = {}
        self.interrupted = False
        self.table = OutcomeTable("" if hasattr(config, "workerinput") else config.getoption("--outcomes"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note in the file of outcomes which exercise has begun."""
        self.table.begin(exercise_id(item))

    def pytest_report_teststatus(self, report: pytest.TestReport, config: pytest.Config) -> Any:
        verdict = getattr(report, "kuiper", {}).get("verdict")
        if verdict not in LETTERS or (config.get_verbosity() >= 2 and verdict == "wrong"):
            return None
        return (
            translate(verdict),
            LETTERS[verdict],
            (verdict.upper(), {"red": verdict == "wrong", "yellow": verdict != "wrong"}),
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = dict(getattr(report, "kuiper", {}))
        if record:
            root = Path(record.pop("root"))
            self.outcomes.setdefault(root, []).append(Outcome(**record))
            self.table.write(record)

    def pytest_keyboard_interrupt(self) -> None:
        self.interrupted = True

    def pytest_sessionfinish(self) -> None:
        """End the workers, and keep what each exercise has shown."""
        self.selection.close()
        if hasattr(self.config, "workerinput"):
            return
        for root, outcomes in self.outcomes.items():
            self._record(self.selection.open(root), outcomes)
            if not self.interrupted:
                self.speeds[root] = self._speeds(self.selection.open(root), outcomes)
                if self.config.getoption("--submission") and self.config.getoption("--speed"):
                    self._measure(self.selection.open(root), outcomes)
        self.table.close()

    def _speeds(self, classroom: Classroom, outcomes: list[Outcome]) -> list[str]:
        """How fast the compiled exercises are that have passed all their tests, if they are the student's."""
        lines = []
        for verdict in verdicts(classroom, outcomes):
            exercise, probe = verdict.exercise, self.selection.probes.get(verdict.exercise.id)
            own = classroom.selection.kind_of(exercise) == "student" and not classroom.selection.home
            if own and probe and verdict.passed >= exercise.test_count:
                lines.append(speed_line(classroom, exercise, probe))
        classroom.close()
        return [line for line in lines if line]

    def _measure(self, classroom: Classroom, outcomes: list[Outcome]) -> None:
        """Write how fast the exercises of a submission are that have points for speed, and are solved."""
        for verdict in verdicts(classroom, outcomes):
            exercise, probe = verdict.exercise, self.selection.probes.get(verdict.exercise.id)
            if exercise.speed and probe and verdict.passed == len(verdict.outcomes) == exercise.test_count:
                self.table.measure(exercise.id)
                measured = measure(classroom, exercise, probe)
                if measured and measured.reference:
                    self.table.write({"speed": exercise.id, "ratio": measured.ratio, "busy": measured.busy})
        classroom.close()

    def _record(self, classroom: Classroom, outcomes: list[Outcome]) -> None:
        """Keep what a full run of an exercise on the student's own file has shown."""
        full = {}
        for verdict in verdicts(classroom, outcomes):
            exercise = verdict.exercise
            parts = [exercise, *classroom.syllabus.needed_by(exercise)]
            own = (
                not classroom.selection.home
                and classroom.selection.kind_of(exercise) == "student"
                and classroom.selection.kind != "skeleton"
            )
            if own and len(verdict.outcomes) >= exercise.test_count and verdict.worst.verdict != "blocked" and parts:
                full[exercise] = verdict.passed
        if full:
            classroom.progress.record(full)
        if classroom.selection.kind == "student" and not classroom.selection.home:
            found = {verdict.exercise.id: verdict.worst.function for verdict in verdicts(classroom, outcomes)}
            remember_failing(classroom.syllabus.root, found)

    def _has_left_out_all(self, terminalreporter: Any) -> bool:
        """Whether there are exercises, but none of their tests, or with --exercise of their files, was to run."""
        left_out = terminalreporter.stats.get("deselected") or self.selection.left_out
        return bool(self.selection.classrooms and not self.outcomes and left_out)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the failures in words, the progress, and the next step."""
        if self.interrupted:
            words = _(
                "interrupted: exercises whose tests have not all run keep the result they had; run the same again"
            )
            _write(terminalreporter, folded(words), yellow=True)
        elif self._has_left_out_all(terminalreporter):
            words = self.config.getoption("keyword") or self.config.getoption("markexpr")
            words = _nothing_selected(self.selection.classrooms.values(), self.config.getoption("--exercise"), words)
            _write(terminalreporter, folded(words), yellow=True)
        for root, outcomes in self.outcomes.items():
            classroom = self.selection.open(root)
            found = verdicts(classroom, outcomes)
            title = _("exercises")
            extra = columns(title) - len(title)  # which pytest does not know
            width = {"fullwidth": get_terminal_size().columns - extra} if extra else {}
            terminalreporter.section(title, **width)
            _write(terminalreporter, report(classroom, found, self.config.getoption("--hint")))
            _write(terminalreporter, miscounted(found), red=True)
            _write(terminalreporter, [line for each in self.speeds.get(root, []) for line in folded(each)])
            if classroom.selection.kind == "student":
                # A program that asks for outcomes shows progress, and the next step, in its own way.
                progress = [] if self.config.getoption("--outcomes") else ending(classroom, found)
                lines = [*afterwards(classroom, found), *progress, *changed_tests(classroom, found)]
            else:
                words = ", ".join(f"{count} {verdict}" for verdict, count in counts(found).items())
                lines = [f"{classroom.selection.kind}s of {len(found)} exercises: {words}"]
            _write(terminalreporter, lines)


def _write(terminalreporter: Any, lines: list[str], **markup: bool) -> None:
    for line in lines:
        terminalreporter.write_line(line, **markup)


def _nothing_selected(classrooms: Iterable[Classroom], parts: Sequence[str], words: str) -> str:
    """A sentence for a run in which no test was left to run."""
    if not parts:
        fits = _("no test of an exercise fits {words}: pytest --collect-only -q lists their names")
        return fits.format(words=repr(words)) if words else ""
    folders = [
        course.name
        for classroom in classrooms
        for course in classroom.syllabus.courses
        if any(exercise in course.exercises for part in parts for exercise in classroom.syllabus.matching(part))
    ]
    sentence = _("no test was selected: exercise {ids} is tested by {check}, or {pytest}")
    pytest = " ".join(["pytest", *dict.fromkeys(folders), f"--exercise {parts[0]}"])
    return sentence.format(ids=" ".join(parts), check=f"kuiper check {parts[0]}", pytest=pytest)
