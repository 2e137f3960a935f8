"""Test the exercise that is being edited, at every save. Ctrl-C ends it."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from kuiper.cli import check
from kuiper.cli.terminal import open_console
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.places import python_environment, root_here
from kuiper.course.progress import Progress, next_exercise
from kuiper.language import _
from kuiper.machine.processes import has_processes

PAUSE = 0.3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help=_("begin with this one (default: the next unsolved one)"))


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    console = open_console()
    first = syllabus.exercise(arguments.id) if arguments.id else next_exercise(syllabus, Progress(syllabus.root))
    if first is None:
        console.print(_("all exercises are solved"))
        return 0
    before = saves(syllabus)
    test(syllabus, first)
    if not has_processes():
        console.print(_("here the page runs the tests at each save"), style="dim")
        return 0
    while True:
        console.print(_("waiting for a save in exercises/ (Ctrl-C ends)"), style="dim")
        changed, before = wait_for_save(syllabus, before)
        console.rule(changed.label)
        test(syllabus, changed)


def test(syllabus: Syllabus, exercise: Exercise) -> None:
    """``kuiper check``, each time in a process that has imported nothing before, where there are processes."""
    if not has_processes():
        check.execute(argparse.Namespace(id=exercise.id, hint=1, call=False, ref=[]))
        return
    command = [sys.executable, "-m", "kuiper", "check", exercise.id]
    subprocess.run(command, cwd=syllabus.root, env=python_environment(), check=False)


def wait_for_save(syllabus: Syllabus, before: dict[str, float]) -> tuple[Exercise, dict[str, float]]:
    """The exercise whose file was saved first after ``before``, and the times as they are now."""
    while True:
        now = saves(syllabus)
        for exercise in syllabus:
            if now.get(exercise.id) != before.get(exercise.id):
                return exercise, now
        time.sleep(PAUSE)


def saves(syllabus: Syllabus) -> dict[str, float]:
    """When each student file was last written."""
    return {ex.id: ex.student_file.stat().st_mtime for ex in syllabus if ex.student_file.is_file()}
