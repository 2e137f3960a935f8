"""One test run over the exercises of one root: whose file is tested, what blocks what, and how each test ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course.compile_errors import compiler_words, shown
from kuiper.course.errors import build_words
from kuiper.course.implementation import Implementation, StudentError
from kuiper.course.in_place import InPlace
from kuiper.course.layout import body_width, folded, place_lines, raised_lines
from kuiper.course.markers import FUNCTION
from kuiper.course.observation import Raised
from kuiper.course.phrases import Phrase, said
from kuiper.course.progress import Progress, is_started
from kuiper.course.quiet import own_wait
from kuiper.course.remote import Worker
from kuiper.course.testing import Mismatch
from kuiper.course.wire import type_name, words_of
from kuiper.language import _, noop, translate
from kuiper.machine.processes import has_processes
from kuiper.printable import printable

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise, Syllabus
    from kuiper.course.selection import Selection


BRIEF = 5  # lines of a failure
NO_MODULE = noop("the file does not compile")


class UndoneError(Exception):
    """A test that there is no point in running; ``verdict`` says why."""

    def __init__(self, verdict: str, text: str) -> None:
        super().__init__(text)
        self.verdict = verdict


@dataclass
class Outcome:
    """How one test ended, and what to show: "passed", "wrong", "unfinished", "not started", "blocked", "waiting" (a
    property test behind a failure, which is not run) or "skipped". ``brief`` says the same in fewer lines, for a report
    that has much to say beside it.

    ``function`` is the one whose hints help; ``script`` is the call that failed, as Python, if somebody asked for it.
    ``lines_of`` has the line of the solution for each diagnosis that is a slip in one line. ``is_asked``: whether the
    mistakes behind an earlier failure were tried on this one. ``is_known`` says that the diagnosis is of the bank, or a
    slip; then ``cause`` is what most often is behind such an error, in case the mistake is none of these. ``said`` has
    the words of slips and causes in the student's language: they are compared and kept in English.
    """

    exercise: str
    test: str
    verdict: str
    lines: list[str] = field(default_factory=list)
    diagnosis: list[str] = field(default_factory=list)
    lines_of: dict[str, int] = field(default_factory=dict)
    is_asked: bool = False
    is_known: bool = False
    said: dict[str, str] = field(default_factory=dict)
    cause: str = ""
    function: str = ""
    script: list[str] = field(default_factory=list)
    brief: list[str] = field(default_factory=list)

    def speak(self) -> None:
        """Keep the words of slips and causes in the student's language, beside plain English that can be sent."""
        words = [*self.diagnosis, self.cause]
        self.said = {str(each): said(each) for each in words if isinstance(each, Phrase)}
        self.diagnosis, self.cause = [str(each) for each in self.diagnosis], str(self.cause)
        self.lines_of = {str(when): line for when, line in self.lines_of.items()}


def in_words(outcome: Outcome, mistake: str) -> str:
    """A diagnosis, or the cause, in the student's language: a known mistake's words are in the bank's catalogue."""
    return outcome.said.get(mistake) or translate(mistake, "bugs")


class Classroom:
    """The state of a run.

    ``isolated``: what may crash (a student's code, a bug) runs in a process of its own. ``alone``: each exercise meets
    the solutions of what it stands on, and skeletons else.
    """

    def __init__(self, selection: Selection, isolated: bool = True, alone: bool = False) -> None:
        self.selection, self.isolated, self.alone = selection, isolated, alone
        self.progress = Progress(selection.syllabus.root)
        self.failed: set[str] = set()
        self._worker: Worker | InPlace | None = None

    @property
    def syllabus(self) -> Syllabus:
        return self.selection.syllabus

    def implementation(
        self, exercise: Exercise, selection: Selection | None = None, seconds: float | None = None
    ) -> Implementation:
        """What a test gets as ``impl``; ``seconds`` as there."""
        chosen = selection or self.selection_for(exercise)
        parts = [exercise, *self.syllabus.needed_by(exercise)]
        foreign = any(chosen.kind_of(part) == "student" or part.id in chosen.paths for part in parts)
        return Implementation(exercise, chosen, self.worker() if foreign and self.isolated else None, seconds)

    def worker(self) -> Worker | InPlace:
        """The process that runs what may crash; where there can be none, this one does."""
        if self._worker is None:
            self._worker = Worker() if has_processes() else InPlace()
        return self._worker

    def selection_for(self, exercise: Exercise) -> Selection:
        """Whose files an exercise's tests meet."""
        if self.alone:
            return self.selection.alone(exercise)
        return self.selection.skeleton(exercise) if self.selection.kind == "skeleton" else self.selection

    def check_ready(self, exercise: Exercise) -> None:
        """Raise UndoneError if the student has not begun, or what the exercise stands on is not solved."""
        for needed in self.syllabus.needed_by(exercise):
            if self.selection.kind_of(needed) == "student" and self._is_unsolved(needed):
                raise UndoneError("blocked", needed.id)
        if self.selection.kind_of(exercise) == "student" and not is_started(exercise):
            other = namesake(exercise) if exercise.student_file.is_file() else None
            words = _("{exercise} - not started: {place}")
            if other:
                words = _("{exercise} - not started: {place} (only this file is tested, not {other})")
            fields = {"exercise": exercise.label, "place": hole(exercise), "other": other and shown(other)}
            raise UndoneError("not started", words.format(**fields))

    def check_examples(self, exercise: Exercise) -> None:
        """Raise UndoneError if an example of the exercise has failed: to look for one more takes longest of all."""
        if exercise.id in self.failed:
            raise UndoneError("waiting", _("a property test waits until all other tests pass"))

    def _is_unsolved(self, needed: Exercise) -> bool:
        """Unknown is not unsolved: a dependency that was never tested does not block."""
        return needed.id in self.failed or self.progress.status(needed) in ("not started", "failing")

    def lend(self, folder: Path) -> None:
        """A test has a folder for files that the student's code is to read; here it can do so anyway."""

    def judge(self, exercise: Exercise, test: str, error: BaseException | None) -> Outcome:
        """Turn what a test raised into an outcome."""
        if error is None:
            return Outcome(exercise.id, test, "passed")
        if isinstance(error, UndoneError):
            if error.verdict == "blocked":
                return Outcome(exercise.id, test, "blocked", [f"{exercise.label} - {blocked_by(str(error))}"])
            return Outcome(exercise.id, test, error.verdict, [str(error)])
        raised = _raised(error)
        if raised and raised.type == "NotImplementedError" and raised.message.startswith("exercise "):
            owner = raised.message.removeprefix("exercise ").split(":")[0]
            if owner != exercise.id:
                return Outcome(exercise.id, test, "blocked", [f"{exercise.label} - {blocked_by(owner)}"])
            self.failed.add(exercise.id)
            words = place_lines(_("not written yet: {place}"), raised.place or raised.message, body_width())
            return Outcome(exercise.id, test, "unfinished", words, function=failing_function(exercise, test, error))
        self.failed.add(exercise.id)
        function = failing_function(exercise, test, error)
        brief = error.lines(BRIEF) if isinstance(error, Mismatch) else []
        return Outcome(exercise.id, test, "wrong", _lines(error, raised), function=function, brief=brief)

    def seconds_without_core(self) -> float:
        """How long the process that runs the code, a worker or this one, has waited for a core."""
        return self._worker.seconds_without_core() if self._worker else own_wait()

    def reference_file(self, exercise: Exercise) -> Path | None:
        """The solution, as a file that a worker may read; None where there is none."""
        return exercise.solution_file if exercise.solution_file.is_file() else None

    def close(self) -> None:
        """End the worker."""
        if self._worker:
            self._worker.stop()


def namesake(exercise: Exercise) -> Path | None:
    """A file of the exercise's name where a student may have put it by mistake: beside ``exercises/``, or above."""
    course = exercise.course
    places = [course, course.parent, exercise.student_file.parent.parent.parent / "exercises", Path.cwd()]
    found = (place / exercise.file for place in places)
    return next((path for path in found if path.is_file() and path != exercise.student_file), None)


def blocked_by(*ids: str) -> str:
    """What is to be solved before an exercise can be tested, and how to go on without."""
    return _("blocked by {ids}; go on with {options}").format(ids=" ".join(ids), options=f"--ref {' --ref '.join(ids)}")


def hole(exercise: Exercise, function: str = "") -> str:
    """Where the student is to write: file and line of the function's hole, else of the first, else of the function."""
    path = exercise.student_file
    if not path.is_file():
        other, again = namesake(exercise), f"kuiper course sync {exercise.id}"
        words = _("{file} is missing: {command} writes the skeleton anew")
        if other:
            words = _("{file} is missing: move {other} back, or {command} writes the skeleton anew")
        return words.format(file=shown(path), command=again, other=other and shown(other))
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    names = [function.rpartition(".")[2]] if function else exercise.symbols
    holes = {i: line for i, line in enumerate(lines, 1) if f'"exercise {exercise.id}:' in line}
    own = [i for i, line in holes.items() if function and f': {function}"' in line]
    heads = [i for i, line in enumerate(lines, 1) if (found := FUNCTION.match(line)) and found[2] in names]
    number = next(iter([*own, *holes, *heads]), 1)
    return f"{shown(path)}:{number}"


def failing_function(exercise: Exercise, test: str, error: BaseException) -> str:
    """Whose hints help with a failing test; "" if the exercise has none for it.

    The hole that was met tells; else the test's name, if it begins with a function's; else the function that the test
    has called; else the function that all the rest belongs to.
    """
    raised = _raised(error)
    hole = f"exercise {exercise.id}: "
    met = raised.message.removeprefix(hole) if raised and raised.message.startswith(hole) else ""
    called = error.function if isinstance(error, (Mismatch, StudentError)) else ""
    for name in (met, exercise.function_of_test(test, rest=False), called):
        if name and exercise.has_ladder(name):
            return exercise.ladder(name).function
    return exercise.function_of_test(test)


def does_not_compile(error: BaseException) -> bool:
    """Whether a test failed because there is no module to test."""
    raised = _raised(error)
    return raised is not None and raised.type == "ExerciseSyntaxError"


def has_no_module(outcome: Outcome) -> bool:
    """Whether what is shown is that the file does not compile."""
    return outcome.lines[:1] == [translate(NO_MODULE)]


def _raised(error: BaseException) -> Raised | None:
    if isinstance(error, StudentError):
        return error.raised
    if isinstance(error, Mismatch) and isinstance(error.got, Raised):
        return error.got
    return None


def _lines(error: BaseException, raised: Raised | None) -> list[str]:
    """What to show of a failure: a mismatch draws itself, a compile error is shown as it is."""
    if raised and raised.type == "ExerciseSyntaxError":
        lines = [translate(NO_MODULE)]
        for line in compiler_words(raised.message):
            lines += [line] if line.startswith(" ") else folded(line, body_width())  # code, or what is said of it
    elif raised and raised.type == "BuildError":
        lines = folded(build_words(raised.message), body_width())
    elif isinstance(error, Mismatch):
        lines = error.lines()
    elif raised:
        lines = raised_lines(raised, BRIEF, body_width())
    else:
        told = (words_of(error) or type_name(error)).splitlines()
        lines = [part for line in told for part in folded(line, body_width())]
    return [printable(line) for line in lines]
