"""Show which exercises are solved, and which comes next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from kuiper.cli.course import chosen
from kuiper.course.classroom import hole
from kuiper.course.manifest import Exercise, read_syllabus
from kuiper.course.places import root_here
from kuiper.course.progress import Progress, bars, next_exercise

if TYPE_CHECKING:
    import argparse

COLOURS = {"solved": "green", "failing": "red", "started": "yellow", "not started": "dim"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="an exercise, or a course (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON instead")


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    progress = Progress(syllabus.root)
    exercises = chosen(syllabus, arguments.ids)
    if arguments.json:
        print(json.dumps([as_dict(exercise, progress) for exercise in exercises], indent=1))
        return 0
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for heading in ("", "exercise", "points", "minutes", "status", "tests", "waits for"):
        table.add_column(heading, justify="right" if heading in ("points", "minutes", "tests") else "left")
    for exercise in exercises:
        status = progress.status(exercise)
        result = progress.result(exercise)
        waits = [part.id for part in syllabus.needed_by(exercise) if progress.status(part) != "solved"]
        tests = f"{result.passed}/{result.total}" if result and status != "not started" else ""
        words = (
            exercise.id,
            exercise.title,
            str(exercise.points),
            str(exercise.minutes),
            status,
            tests,
            " ".join(waits),
        )
        table.add_row(*words, style=COLOURS[status])
    console.print(table)
    for line in ["", *bars(syllabus.courses, progress)]:
        console.print(line, soft_wrap=True)
    step = next_exercise(syllabus, progress)
    if step:
        console.print(f"next: {step.label} ({step.minutes} minutes), {hole(step)}", soft_wrap=True)
    return 0


def as_dict(exercise: Exercise, progress: Progress) -> dict[str, object]:
    """One exercise for other programs."""
    result = progress.result(exercise)
    return {
        "id": exercise.id,
        "title": exercise.title,
        "points": exercise.points,
        "status": progress.status(exercise),
        "passed": result.passed if result else 0,
        "tests": exercise.test_count,
    }
