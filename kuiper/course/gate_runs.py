"""What the gates look at: all tests, run on the solutions, on the skeletons and on the bugs."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.course import gate_cache
from kuiper.course.classroom import Outcome
from kuiper.course.manifest import Exercise, Syllabus, test_files
from kuiper.course.places import pytest_environment
from kuiper.course.pytest_command import pytest_command
from kuiper.language import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Sequence

SESSIONS = min(os.cpu_count() or 1, 8)  # at the same time
EXERCISES = 8  # of one session: with fewer no core waits for the last one, but each session takes two seconds to begin


@dataclass(frozen=True)
class Run:
    """How all tests ended; which test caught which bug, and whose hints were shown: (exercise, bug, test, function)."""

    outcomes: tuple[Outcome, ...]
    catches: tuple[tuple[str, str, str, str], ...] = ()
    output: str = ""

    def of(self, exercise: Exercise) -> list[Outcome]:
        """The outcomes of one exercise."""
        return [outcome for outcome in self.outcomes if outcome.exercise == exercise.id]


@dataclass(frozen=True)
class Runs:
    """The two runs that the two-way gates and the bug gate look at."""

    alone: Run
    skeleton: Run = field(default_factory=lambda: Run(()))


def run_all(syllabus: Syllabus, exercises: Sequence[Exercise]) -> Runs:
    """Run every test on the solutions and on the skeletons, and on each bug until it is caught.

    Exercises that have not changed since the last time are not run again.
    """
    kept = {exercise.id: gate_cache.recall(syllabus, exercise) for exercise in exercises}
    waiting = [exercise for exercise in exercises if kept[exercise.id] is None]
    output = ""
    if waiting:
        alone, skeleton = _run_waiting(waiting)
        output = alone.output
        for exercise in waiting:
            catches = [catch for catch in alone.catches if catch[0] == exercise.id]
            parts = {"alone": alone.of(exercise), "skeleton": skeleton.of(exercise), "catches": catches}
            if parts["alone"] and parts["skeleton"]:
                gate_cache.keep(syllabus, exercise, **parts)
            kept[exercise.id] = json.loads(json.dumps(parts, default=asdict))
    found = [entry for entry in kept.values() if entry]
    alone = Run(
        tuple(Outcome(**outcome) for entry in found for outcome in entry["alone"]),
        tuple((id_, bug, test, function) for entry in found for id_, bug, test, function in entry["catches"]),
        output,
    )
    return Runs(alone, Run(tuple(Outcome(**outcome) for entry in found for outcome in entry["skeleton"])))


def run_chosen(exercises: Sequence[Exercise], catchers: dict[str, dict[str, str]]) -> Runs:
    """Run every test on the solutions and on the skeletons, and one on each bug: that which stands here for it.

    ``catchers`` are tests by exercise and bug; a bug that is not among them is not run.
    """
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "catchers.json")
        table.write_text(json.dumps(catchers), encoding="utf-8")
        alone, skeleton = _run_waiting(exercises, f"--catchers={table}")
    return Runs(alone, skeleton)


def replaced(runs: Runs, newer: Runs, exercises: Sequence[Exercise]) -> Runs:
    """The runs with what newer ones say of some exercises in the place of what was said before."""
    ids = {exercise.id for exercise in exercises}

    def joined(before: Run, after: Run) -> Run:
        outcomes = [outcome for outcome in before.outcomes if outcome.exercise not in ids]
        catches = [catch for catch in before.catches if catch[0] not in ids]
        return Run((*outcomes, *after.outcomes), (*catches, *after.catches), before.output + after.output)

    return Runs(joined(runs.alone, newer.alone), joined(runs.skeleton, newer.skeleton))


def _run_waiting(exercises: Sequence[Exercise], *more: str) -> tuple[Run, Run]:
    """Alone and skeleton, on all cores, a few exercises in each session."""
    parts = [exercises[first : first + EXERCISES] for first in range(0, len(exercises), EXERCISES)]
    with ThreadPoolExecutor(SESSIONS) as pool:
        alone = [pool.submit(run_tests, part, "alone", "--bugs-until-caught", *more) for part in parts]
        skeleton = [pool.submit(run_tests, part, "skeleton") for part in parts]
        try:
            return _joined([future.result() for future in alone]), _joined([future.result() for future in skeleton])
        except BaseException:  # Ctrl-C ends the sessions that run; no other is to begin
            pool.shutdown(cancel_futures=True)
            raise


def _joined(runs: Sequence[Run]) -> Run:
    """Sessions as if they had been one; what pytest said counts where no test has run."""
    return Run(
        tuple(outcome for run in runs for outcome in run.outcomes),
        tuple(catch for run in runs for catch in run.catches),
        "\n".join(run.output for run in runs if not run.outcomes),
    )


def run_tests(exercises: Sequence[Exercise], impl: str, bugs: str = "", *more: str) -> Run:
    """One pytest session, in a process of its own, over the tests of these exercises.

    ``bugs`` is the option for the bug bank: "--bugs", every test on every bug, or "--bugs-until-caught"; ``more`` are
    other options.
    """
    root = exercises[0].course.parent
    files = [str(path) for path in test_files(exercises)]
    with tempfile.TemporaryDirectory() as folder:
        table, catches = Path(folder, "outcomes.jsonl"), Path(folder, "catches.json")
        words = [f"--rootdir={root}", "--import-mode=importlib", f"--impl={impl}", f"--outcomes={table}", *more]
        words += [f"--exercise={exercise.id}" for exercise in exercises]
        words += [f"{bugs}={catches}"] if bugs else []
        env = {**pytest_environment(), "KUIPER_LANG": ENGLISH}  # gates look for words in reports
        done = subprocess.run(pytest_command(*words, *files), cwd=root, env=env, capture_output=True, text=True)
        if not table.is_file() or done.returncode not in (0, 1):
            return Run((), (), (done.stdout + done.stderr)[-2000:])
        with table.open(encoding="utf-8") as lines:
            outcomes = tuple(Outcome(**entry) for entry in map(json.loads, lines) if "test" in entry)
        found = json.loads(catches.read_text(encoding="utf-8")) if bugs else []
        return Run(outcomes, tuple((a, b, c, d) for a, b, c, d in found), done.stdout)
