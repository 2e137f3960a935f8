"""pytest for exercises: the student's files by default, failures in words, progress at the end.

Loaded by the ``conftest.py`` at the root (and not as an entry point too: pytest refuses to load one plugin twice).
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.bugs import read_bugs
from kuiper.course.classroom import Classroom, Outcome, UndoneError, failing_function
from kuiper.course.diagnosis import MOST_TESTS, diagnose, run_on
from kuiper.course.errors import CourseError
from kuiper.course.hints import remember_failing
from kuiper.course.manifest import Exercise, find_root, read_syllabus
from kuiper.course.outcomes import OutcomeTable
from kuiper.course.places import state_folder
from kuiper.course.sandbox import chosen_mode
from kuiper.course.selection import Kind, Selection
from kuiper.course.speed import speed_line
from kuiper.course.submission import SubmissionRoom
from kuiper.course.summary import (
    afterwards,
    changed_tests,
    counts,
    ending,
    miscounted,
    nothing_selected,
    report,
    verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from kuiper.course.implementation import Implementation

EXERCISE = pytest.StashKey[Exercise]()
GENERATED = ("exercises", "solutions", "bugs", "data")
LETTERS = {"wrong": "F", "unfinished": "u", "not started": "-", "blocked": "b"}
EXAMPLES = 25
IMPL = "whose files; alone: each solution with no more than what it depends on; skeleton: each with all others solved"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kuiper", "exercises")
    group.addoption("--impl", choices=("student", "solution", "skeleton", "alone"), default="student", help=IMPL)
    group.addoption("--ref", action="append", default=[], metavar="ID", help="use the reference for this exercise")
    group.addoption(
        "--use-solutions", action="store_true", help="use the reference for what is not selected or untouched"
    )
    group.addoption(
        "--exercise", action="append", default=[], metavar="ID", help="only this exercise, or all of a course"
    )
    group.addoption("--hint", nargs="?", type=int, const=2, default=1, metavar="N", help="show hint N: write --hint=2")
    group.addoption("--in-process", action="store_true", help="run your code in pytest's own process, for --pdb and -s")
    group.addoption(
        "--bugs", metavar="JSON", help="run every test on every bug of its exercise too; write who catches whom"
    )
    group.addoption("--bugs-until-caught", metavar="JSON", help="the same, but a bug that is caught is left alone")
    group.addoption("--submission", type=Path, metavar="DIR", help="test a submission that kuiper grade has taken in")
    group.addoption("--walls", metavar="MODE", help="with --submission: bubblewrap, namespaces or limits")
    group.addoption("--failed", action="append", default=[], metavar="ID", help="with --submission: already tested")
    group.addoption("--outcomes", metavar="FILE", help="write how each test ended, line by line; -: to standard output")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hint") < 1:
        raise pytest.UsageError(f"--hint: expected a number from 1 on, got {config.getoption('--hint')}")
    config.pluginmanager.register(ClassroomPlugin(config), "kuiper-classroom")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """In a course folder only the tests are tests: exercises, solutions and adapters are not imported by pytest."""
    if collection_path.name in GENERATED and (collection_path.parent / "course.toml").is_file():
        return True
    is_module = collection_path.suffix == ".py" and (collection_path.parent / "course.toml").is_file()
    return True if is_module and not collection_path.name.startswith(("test_", "conftest")) else None


@pytest.fixture
def impl(request: pytest.FixtureRequest) -> Implementation:
    """The functions of the exercise that this test belongs to: the student's, or the reference's."""
    plugin: Any = request.config.pluginmanager.get_plugin("kuiper-classroom")
    exercise = request.node.stash.get(EXERCISE, None)
    if exercise is None:
        raise CourseError(request.node.nodeid, "a test that course.toml lists for an exercise", "none")
    found: Implementation = plugin.classroom(exercise).implementation(exercise)
    return found


class ClassroomPlugin:
    """The hooks, and what they know of the run: a classroom for each root, and the outcomes."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.classrooms: dict[Path, Classroom] = {}
        self.outcomes: dict[Path, list[Outcome]] = {}
        self.errors: dict[str, BaseException] = {}
        self.diagnosed: Counter[str] = Counter()
        self.interrupted = False
        self.speeds: dict[Path, list[str]] = {}
        self.catches: list[tuple[str, str, str, str]] = []
        self.probes: dict[str, Any] = {}
        self.table = OutcomeTable("" if hasattr(config, "workerinput") else config.getoption("--outcomes"))

    def classroom(self, exercise: Exercise) -> Classroom:
        return self.classrooms[exercise.course.parent]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        wanted = self._wanted(items)
        places: dict[str, tuple[int, int]] = {}
        for item in items:
            root = find_root(item.path.parent)
            if root is None or not (item.path.parent / "course.toml").is_file():
                continue
            classroom = self._open(root)
            exercise = classroom.syllabus.owner(item.path, getattr(item, "originalname", item.name))
            if exercise is None:
                continue
            item.stash[EXERCISE] = exercise
            self.probes[exercise.id] = getattr(getattr(item, "module", None), "speed", None)
            files = [name.partition("::")[0] for name in exercise.tests]  # the manifest's order: the simplest first
            places[item.nodeid] = list(classroom.syllabus).index(exercise), files.index(item.path.name)
            _settle_hypothesis(item, shrink=config.getoption("--impl") == "student")
        if wanted is not None:
            dropped = [item for item in items if _id(item) not in wanted]
            items[:] = [item for item in items if _id(item) in wanted]
            config.hook.pytest_deselected(items=dropped)
        items.sort(key=lambda item: places.get(item.nodeid, (-1, 0)))
        self._use_solutions({_id(item) for item in items})

    def _wanted(self, items: list[pytest.Item]) -> set[str] | None:
        """The numbers that --exercise stands for; a number that nothing has is a usage error."""
        parts = self.config.getoption("--exercise")
        if not parts:
            return None
        roots = {root for item in items if (root := find_root(item.path.parent))}
        try:
            return {found.id for root in roots for part in parts for found in self._open(root).syllabus.matching(part)}
        except CourseError as error:
            raise pytest.UsageError(f"--exercise: {error}") from None

    def _open(self, root: Path) -> Classroom:
        if root not in self.classrooms:
            try:
                syllabus = read_syllabus(root)
                impl = self.config.getoption("--impl")
                kind: Kind = "solution" if impl == "alone" else impl
                refs = {found.id for part in self.config.getoption("--ref") for found in syllabus.matching(part)}
                state_folder(root)  # a message, not a trace, where nothing may be written
            except CourseError as error:
                raise pytest.UsageError(str(error)) from None
            if self.config.getoption("--submission"):
                home, mode = self.config.getoption("--submission"), chosen_mode(self.config.getoption("--walls"))
                self.classrooms[root] = SubmissionRoom(syllabus, home, mode, self.config.getoption("--failed"))
                return self.classrooms[root]
            in_process = self.config.getoption("--in-process") or self.config.getoption("usepdb")
            selection = Selection(syllabus, kind, dict.fromkeys(sorted(refs), "solution"))
            self.classrooms[root] = Classroom(selection, not in_process, alone=impl == "alone")
        return self.classrooms[root]

    def _use_solutions(self, selected: set[str]) -> None:
        """--use-solutions: what the selected tests stand on, and the student has not solved, is the reference's."""
        if not self.config.getoption("--use-solutions"):
            return
        for classroom in self.classrooms.values():
            syllabus, status = classroom.syllabus, classroom.progress.status
            needed = {part.id for ex in syllabus if ex.id in selected for part in syllabus.needed_by(ex)}
            borrowed = [
                part.id for part in syllabus if part.id in needed and status(part) in ("not started", "failing")
            ]
            kinds: dict[str, Kind] = {**classroom.selection.kinds, **dict.fromkeys(borrowed, "solution")}
            classroom.selection = dataclasses.replace(classroom.selection, kinds=kinds)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.path.name.startswith("test_") and (item.path.parent / "course.toml").is_file() and not _id(item):
            pytest.fail(f"{item.nodeid}: course.toml lists this test for no exercise", pytrace=False)
        self.table.begin(_id(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        exercise = pyfuncitem.stash.get(EXERCISE, None)
        if exercise is None:
            return (yield)
        try:
            self.classroom(exercise).check_ready(exercise)
            folder = pyfuncitem.funcargs.get("tmp_path")
            if isinstance(folder, Path):
                self.classroom(exercise).lend(folder)
            result = yield
        except Exception as error:
            if self._shows_traces and not isinstance(error, UndoneError):
                raise
            # pytest takes longer to draw a trace than most tests run, and nobody wants this one.
            self.errors[pyfuncitem.nodeid] = error
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        if self._catches_file and "impl" in pyfuncitem.funcargs:
            self._run_bugs(exercise, pyfuncitem)
        return result

    @property
    def _catches_file(self) -> str:
        return self.config.getoption("--bugs") or self.config.getoption("--bugs-until-caught") or ""

    @property
    def _shows_traces(self) -> bool:
        return self.config.getoption("usepdb") or self.config.get_verbosity() >= 2

    def _run_bugs(self, exercise: Exercise, item: pytest.Function) -> None:
        """Property tests, which take long to fail, only meet the bugs that nothing else has caught."""
        sparing = self.config.getoption("--bugs-until-caught") or hasattr(item.obj, "hypothesis")
        caught = {(id_, name) for id_, name, *_ in self.catches} if sparing else set()
        for bug in read_bugs(exercise):
            try:
                if (exercise.id, bug.name) in caught:
                    continue
                error = run_on(self.classroom(exercise), exercise, bug, item)
                if error:
                    function = failing_function(exercise, item.name, error)
                    self.catches.append((exercise.id, bug.name, item.name, function))
            except CourseError:  # a patch that does not fit; the bug gate reports it
                continue

    @property
    def _may_diagnose(self) -> bool:
        return self.config.getoption("--impl") == "student" and not self.config.getoption("--submission")

    def _diagnose(self, exercise: Exercise, item: pytest.Item, error: BaseException) -> list[str]:
        """Ask the bug bank about the first failures of an exercise; property tests only where nothing else failed."""
        slow = hasattr(getattr(item, "obj", None), "hypothesis")
        if not isinstance(item, pytest.Function) or self.diagnosed[exercise.id] >= (1 if slow else MOST_TESTS):
            return []
        self.diagnosed[exercise.id] += 1
        return diagnose(self.classroom(exercise), exercise, item, error)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        made = yield
        exercise = item.stash.get(EXERCISE, None)
        if exercise is None or (call.when != "call" and made.passed):
            return made
        error = call.excinfo.value if call.excinfo else None
        error = self.errors.pop(item.nodeid, error)
        outcome = self.classroom(exercise).judge(exercise, item.name, error)
        if outcome.verdict == "wrong" and error is not None and self._may_diagnose:
            outcome.diagnosis = self._diagnose(exercise, item, error)
        if made.skipped:
            outcome = Outcome(exercise.id, item.name, "skipped", ["skipped: an exercise's tests may not be"])
            made.outcome = "failed"
        made.__dict__["kuiper"] = {"root": str(exercise.course.parent), **dataclasses.asdict(outcome)}
        if made.failed and not (self._shows_traces and outcome.verdict == "wrong"):
            made.longrepr = "\n".join([*outcome.lines, *(f"likely: {when}" for when in outcome.diagnosis)])
        return made

    def pytest_report_teststatus(self, report: pytest.TestReport, config: pytest.Config) -> Any:
        verdict = getattr(report, "kuiper", {}).get("verdict")
        if verdict not in LETTERS or (config.get_verbosity() >= 2 and verdict == "wrong"):
            return None
        return verdict, LETTERS[verdict], (verdict.upper(), {"red": verdict == "wrong", "yellow": verdict != "wrong"})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = dict(getattr(report, "kuiper", {}))
        if record:
            root = Path(record.pop("root"))
            self.outcomes.setdefault(root, []).append(Outcome(**record))
            self.table.write(record)

    def pytest_keyboard_interrupt(self) -> None:
        self.interrupted = True

    def pytest_sessionfinish(self) -> None:
        for classroom in self.classrooms.values():
            classroom.close()
        if hasattr(self.config, "workerinput"):
            return
        for root, outcomes in self.outcomes.items():
            self._record(self._open(root), outcomes)
            if not self.interrupted:
                self.speeds[root] = self._speeds(self._open(root), outcomes)
        self.table.close()
        if self._catches_file:
            Path(self._catches_file).write_text(json.dumps(self.catches, indent=1), encoding="utf-8")

    def _speeds(self, classroom: Classroom, outcomes: list[Outcome]) -> list[str]:
        """How fast the compiled exercises are that have passed all their tests, if they are the student's."""
        lines = []
        for verdict in verdicts(classroom, outcomes):
            exercise, probe = verdict.exercise, self.probes.get(verdict.exercise.id)
            own = classroom.selection.kind_of(exercise) == "student" and not classroom.selection.home
            if own and probe and exercise.is_cython and verdict.passed >= exercise.test_count:
                lines.append(speed_line(classroom, exercise, probe))
        classroom.close()
        return [line for line in lines if line]

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

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        hint = self.config.getoption("--hint")
        if self.interrupted:
            words = "interrupted: exercises whose tests have not all run keep the result they had; run the same again"
            terminalreporter.write_line(words, yellow=True)
        elif self.classrooms and not self.outcomes and terminalreporter.stats.get("deselected"):
            words = self.config.getoption("keyword") or self.config.getoption("markexpr")
            words = nothing_selected(self.classrooms.values(), self.config.getoption("--exercise"), words)
            terminalreporter.write_line(words, yellow=True)
        for root, outcomes in self.outcomes.items():
            classroom = self._open(root)
            found = verdicts(classroom, outcomes)
            terminalreporter.section("exercises")
            for line in report(classroom, found, hint):
                terminalreporter.write_line(line)
            for line in miscounted(found):
                terminalreporter.write_line(line, red=True)
            for line in self.speeds.get(root, []):
                terminalreporter.write_line(line)
            if classroom.selection.kind == "student":
                for line in [
                    *afterwards(classroom, found),
                    *ending(classroom, found),
                    *changed_tests(classroom, found),
                ]:
                    terminalreporter.write_line(line)
            else:
                words = ", ".join(f"{count} {verdict}" for verdict, count in counts(found).items())
                terminalreporter.write_line(f"{classroom.selection.kind}s of {len(found)} exercises: {words}")


def _id(item: pytest.Item) -> str:
    exercise = item.stash.get(EXERCISE, None)
    return exercise.id if exercise else ""


def _settle_hypothesis(item: pytest.Item, shrink: bool) -> None:
    """Property tests of exercises give the same answer each time, and ``impl`` may serve all their examples."""
    function = getattr(item, "obj", None)
    if not hasattr(function, "hypothesis") or getattr(function, "_hypothesis_internal_settings_applied", False):
        return
    from hypothesis import HealthCheck, Phase, settings

    settings(
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])],
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=EXAMPLES,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )(function)
