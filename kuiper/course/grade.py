"""Grading: each submission in a pytest of its own, with this checkout's tests, and the student's code in a sandbox."""

from __future__ import annotations

import contextlib
import re
import signal
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from kuiper.course.cleanup import temporary_folder
from kuiper.course.intake import Intake, take_in
from kuiper.course.integrity import Snapshot, judging_code
from kuiper.course.judge import Judgement, Judges
from kuiper.course.observation import DIED, DIED_OF_MEMORY, ENDED_IN_CALL
from kuiper.course.phrases import phrase, said
from kuiper.course.processes import unreadable
from kuiper.course.sandbox import are_alike, best_mode
from kuiper.course.speed import reached
from kuiper.course.submission import NOT_HANDED_IN
from kuiper.language import _, noop, translate
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kuiper.course.manifest import Exercise, Syllabus
    from kuiper.course.sandbox import Mode

NOT_TRUSTED = phrase("not trusted")
VERDICTS = noop("wrong"), noop("waiting"), noop("blocked"), noop("unfinished")
"""How a test that has not passed may have ended, as pytest's own run says it; see classroom.py."""

SHELLS = 128  # and the signal's number: the exit code of who waited for a process that a signal ended
UNBELIEVABLE = 4.0  # times what is worth all points: the clock is one in the submission's own process
MAX_SHOWN = 2000  # characters of anything that a submission may have sent


@dataclass(frozen=True)
class Grade:
    """One exercise of one submission. Points are given when every test has passed, those for speed if it was timed.

    The verdict is a phrase: English, unless it is ``said``. The message is what the student gets to read.
    """

    id: str
    title: str
    points: int
    full: int
    passed: int
    tests: int
    verdict: str
    message: str = ""
    speed: int = 0
    most_speed: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether the submission's process ended in the middle of a call: by itself, or by a signal."""
        return self.verdict.startswith("ended (")


@dataclass(frozen=True)
class Report:
    """A graded submission; ``odd`` lists what a human should look at."""

    name: str
    grades: tuple[Grade, ...]
    odd: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        return sum(grade.points for grade in self.grades)

    @property
    def full(self) -> int:
        return sum(grade.full for grade in self.grades)

    @property
    def speed(self) -> int:
        """Points for speed, which are not among the others."""
        return sum(grade.speed for grade in self.grades)

    @property
    def most_speed(self) -> int:
        return sum(grade.most_speed for grade in self.grades)


def grade_all(
    syllabus: Syllabus,
    exercises: Sequence[Exercise],
    submissions: Sequence[Path],
    seconds: float,
    jobs: int,
    done: Callable[[Report], None],
    mode: Mode | None = None,
    speed: bool = False,
) -> list[Report]:
    """Grade submissions in parallel; ``done`` hears of each as it is finished. Reports come in the order given.

    All are taken in before the code of the first one runs. Each exercise has ``seconds``. In the mode "limits" code may
    be able to change what judges it: from the moment that something has changed nothing is paid any more. An
    interrupt ends all that is being judged. With ``speed`` what is solved is timed, too, one submission at a time.
    """
    chosen, judges = mode or best_mode(), Judges()
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(temporary_folder()) for _ in submissions]
        intakes = [take_in(syllabus, path, _home(folder)) for path, folder in zip(submissions, folders, strict=True)]
        snapshot = None
        if chosen == "limits":
            stack.enter_context(unreadable())
            snapshot = Snapshot([*judging_code(syllabus.root), *map(_home, folders)])

        def work(path: Path, folder: Path, intake: Intake) -> Report:
            changed = snapshot.changed() if snapshot else []  # by one before it
            if changed:
                return _void(_report(exercises, path, intake, Judgement()), changed)
            found = judges.judge(syllabus, exercises, _home(folder), folder / "state", seconds, chosen, speed)
            report = _report(exercises, path, intake, found)
            if speed:
                report = _with_speeds(report, exercises, found)
            changed = snapshot.changed() if snapshot else []
            return _void(report, changed) if changed else report

        reports: dict[Path, Report] = {}
        # One alone: the next one begins when nothing of this one is left, and takes no core from it.
        with ThreadPoolExecutor(1 if speed or are_alike(chosen) else jobs) as pool:
            triples = zip(submissions, folders, intakes, strict=True)
            waiting = {pool.submit(work, *triple): triple[0] for triple in triples}
            try:
                for future in as_completed(waiting):
                    reports[waiting[future]] = future.result()
                    done(future.result())
            except BaseException:  # the pool waits for its threads, and these for what they judge
                pool.shutdown(wait=False, cancel_futures=True)
                judges.stop()
                raise
    return [reports[path] for path in submissions]


def grade_one(
    syllabus: Syllabus, exercises: Sequence[Exercise], submission: Path, seconds: float, mode: Mode | None = None
) -> Report:
    """Grade one submission within ``seconds`` for each exercise."""
    return grade_all(syllabus, exercises, [submission], seconds, 1, lambda report: None, mode)[0]


def gradescope(report: Report) -> dict[str, Any]:
    """The report as Gradescope's results.json."""
    titles = {grade.id: f"{grade.id} {translate(grade.title, 'hints')}" for grade in report.grades}
    count, speed = _("{passed} of {total} tests passed"), _("{exercise}: speed")
    tests = [
        {
            "name": titles[grade.id],
            "score": grade.points,
            "max_score": grade.full,
            "status": "passed" if grade.points else "failed",
            "output": f"{count.format(passed=grade.passed, total=grade.tests)}\n{grade.message}".strip(),
        }
        for grade in report.grades
    ]
    tests += [
        {"name": speed.format(exercise=titles[grade.id]), "score": grade.speed, "max_score": grade.most_speed}
        for grade in report.grades
        if grade.most_speed
    ]
    return {"score": report.points + report.speed, "tests": tests, "output": "\n".join(report.odd)}


def as_dict(report: Report) -> dict[str, Any]:
    """The report for other programs."""
    return {"name": report.name, **sums(report), **asdict(report)}


def sums(report: Report) -> dict[str, int]:
    """The points, and what there is to be had."""
    return {"points": report.points, "full": report.full, "speed": report.speed, "most_speed": report.most_speed}


def _home(folder: Path) -> Path:
    """Where a submission is taken in: others may read it and the folder around it, if they know its name."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    folder.chmod(0o711)
    return home


def _report(exercises: Sequence[Exercise], submission: Path, intake: Intake, judged: Judgement) -> Report:
    outcomes, ends = judged.outcomes, judged.ends
    grades = tuple(_grade(exercise, outcomes.get(exercise.id, []), ends.get(exercise.id, "")) for exercise in exercises)
    asked = {exercise.id for exercise in exercises}
    found = [*intake.odd, *ends.items(), *((grade.id, grade.verdict) for grade in grades if grade.has_ended)]
    odd = [_about(id_, words) for id_, words in found if id_ in asked]
    return Report(shown(submission.name) or "?", grades, tuple(odd))


def _about(id_: str, words: str) -> str:
    """What there is to look at in an exercise."""
    return shown(_("{exercise}: {words}").format(exercise=id_, words=said(words)))


def _with_speeds(report: Report, exercises: Sequence[Exercise], judged: Judgement) -> Report:
    """The same with points for speed, and what somebody should look at: what nobody could judge, or hardly believe."""
    grades, odd = [], []
    for grade, exercise in zip(report.grades, exercises, strict=True):
        entry = judged.speeds.get(exercise.id)
        is_timed = entry is not None and bool(grade.points)
        count = reached(exercise.speed, entry["ratio"]) if entry is not None and is_timed else 0
        grades.append(replace(grade, speed=count, most_speed=len(exercise.speed)))
        if entry is not None and is_timed and entry["ratio"] > UNBELIEVABLE * exercise.speed[-1]:
            words = noop("{ratio} times as fast as the reference: read it, a clock can be forged")
            odd.append(_about(exercise.id, phrase(words, ratio=f"{entry['ratio']:.1f}")))
        elif entry is not None and is_timed and entry["busy"] and count < len(exercise.speed):
            words = phrase("the machine was too busy to judge its speed ({busy}): grade it again", busy=entry["busy"])
            odd.append(_about(exercise.id, words))
        elif grade.points and exercise.speed and entry is None:
            odd.append(_about(exercise.id, phrase("its speed could not be measured")))
    return replace(report, grades=tuple(grades), odd=(*report.odd, *odd))


def _void(report: Report, changed: list[str]) -> Report:
    """The same without points."""
    grades = tuple(replace(grade, points=0, speed=0, verdict=NOT_TRUSTED) for grade in report.grades)
    words = _("while this or one before it ran, the grader's own files changed ({files}): no points")
    return replace(report, grades=grades, odd=(*report.odd, shown(words.format(files=", ".join(changed[:3])))))


def _grade(exercise: Exercise, own: list[dict[str, Any]], end: str) -> Grade:
    """Points only if all tests that the manifest counts have run and passed; ``end`` says why some have not run."""
    passed = sum(outcome["verdict"] == "passed" for outcome in own)
    is_solved = passed == len(own) == exercise.test_count and not end
    failed = next((outcome for outcome in own if outcome["verdict"] != "passed"), None)
    verdict = phrase("solved") if is_solved else _verdict(failed) if failed else end or phrase("not run")
    message = said(end) if failed is None else "\n".join([failed["test"], *failed["lines"]])
    points = exercise.points if is_solved else 0
    return Grade(
        exercise.id, exercise.title, points, exercise.points, passed, exercise.test_count, verdict, shown(message)
    )


def _verdict(failed: dict[str, Any]) -> str:
    """How a test has failed: "wrong", and so on, or how the submission's process ended in it."""
    if failed["verdict"] == "not started":  # of a submission there is one word for it
        return NOT_HANDED_IN
    end = _end_in("\n".join(failed["lines"]))
    return phrase("ended ({end})", end=end) if end and failed["verdict"] == "wrong" else phrase(failed["verdict"])


def _end_in(text: str) -> str:
    """How a process ended, a signal or an exit code, of which a report tells in its own language; "" if of none."""
    words = " ".join(text.split())
    if translate(DIED_OF_MEMORY) in words:
        return "SIGSEGV"
    if code := _field(translate(ENDED_IN_CALL), words):
        names = {str(SHELLS + number): number.name for number in signal.Signals}
        return names.get(code) or phrase("exit code {code}", code=code)
    return _field(translate(DIED), words)


def _field(message: str, text: str) -> str:
    """What stands in the one field of a message that a text has; "" if it does not have it.

    >>> _field("it died ({signal})", "and it died (SIGKILL) at once")
    'SIGKILL'
    """
    pattern = re.sub(r"\\\{\w+\\\}", "(.+?)", re.escape(message))
    found = re.search(pattern, text)
    return found[1] if found else ""


def shown(text: str) -> str:
    """What a submission may have sent, made safe for a terminal and not too long for a report."""
    return printable(text, keep="\n")[:MAX_SHOWN]
