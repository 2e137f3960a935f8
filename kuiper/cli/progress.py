"""Show which exercises are solved, and which comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from kuiper.cli.course import chosen
from kuiper.cli.path_progress import COLOURS, path_lines, route_as_dict, show_route
from kuiper.cli.terminal import open_console, say_json
from kuiper.course.errors import CommandError
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.phrases import phrase
from kuiper.course.places import root_here
from kuiper.course.progress import Progress, bars, next_exercise
from kuiper.course.race_history import all_race_points
from kuiper.course.short_paths import route
from kuiper.course.speed import all_points
from kuiper.course.speed import points as speed_points
from kuiper.course.summary import next_lines
from kuiper.language import _, columns, noop, padded, translate

if TYPE_CHECKING:
    import argparse

MAX_WAITS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help=_("an exercise, or a course (default: all)"))
    parser.add_argument("--path", metavar="NAME", help=_("a short path through the courses, with its hours"))
    parser.add_argument("--json", action="store_true", help=_("print JSON instead"))


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    progress = Progress(syllabus.root)
    if arguments.path is not None:
        return _show_path(syllabus, progress, arguments)
    exercises = chosen(syllabus, arguments.ids)
    if arguments.json:
        say_json([as_dict(exercise, progress) for exercise in exercises], indent=1)
        return 0
    console = open_console()
    table = Table(box=None, pad_edge=False)
    headings = ("", noop("exercise"), noop("pts"), noop("min"), noop("status"), noop("tests"), noop("needs"))
    for heading in headings:
        table.add_column(translate(heading), justify="right" if heading in ("pts", "min", "tests") else "left")
    for exercise in exercises:
        status = progress.status(exercise)
        result = progress.result(exercise)
        waits = [part.id for part in syllabus.needed_by(exercise) if progress.status(part) != "solved"]
        tests = f"{result.passed}/{result.total}" if result and status != "not started" else ""
        words = (
            exercise.id,
            translate(exercise.title, "hints"),
            str(exercise.points),
            str(exercise.minutes),
            translate(status),
            tests,
            " ".join(waits) if len(waits) <= MAX_WAITS else f"{' '.join(waits[: MAX_WAITS - 1])} ...",
        )
        table.add_row(*words, style=COLOURS[status])
    console.print(table)
    for line in ["", *bars(syllabus.courses, progress)]:
        console.print(line, soft_wrap=True)
    if line := all_points(exercises, progress):
        console.print(line, soft_wrap=True)
    if line := all_race_points(syllabus):
        console.print(line, soft_wrap=True)
    for line in engine_lines(syllabus, progress):
        console.print(line, soft_wrap=True)
    for line in path_lines(syllabus):
        console.print(line, soft_wrap=True)
    step = next_exercise(syllabus, progress)
    if step:
        for line in next_lines(step):
            console.print(line, soft_wrap=True)
    return 0


def _show_path(syllabus: Syllabus, progress: Progress, arguments: argparse.Namespace) -> int:
    if arguments.ids:
        got = phrase("both: {ids}", ids=" ".join(arguments.ids))
        raise CommandError("progress", phrase("numbers of exercises, or --path"), got)
    way = route(syllabus, arguments.path)
    if arguments.json:
        entries = [as_dict(exercise, progress) for exercise in way.exercises]
        say_json({**route_as_dict(way), "exercises": entries}, indent=1)
        return 0
    show_route(way, syllabus, progress, open_console())
    return 0


def engine_lines(syllabus: Syllabus, progress: Progress) -> list[str]:
    """How far the student's engine is filled, course by course: a cell for each part, and what runs that course."""
    parts = syllabus.grown_parts()
    own = [part for part in parts if progress.status(part) == "solved"]
    rows = []
    for course in syllabus.courses:
        here = [part for part in parts if part.course == course.folder]
        solved = sum(part in own for part in here)
        bar = "█" * solved + "░" * (len(here) - solved)
        run = f"kuiper race {course.afterwards.race}" if course.afterwards and course.afterwards.race else ""
        rows += [(translate(course.title, "hints"), bar, f"{solved}/{len(here)}", run)] if here else []
    if not rows:
        return []
    title, cells, count = (max(columns(row[i]) for row in rows) for i in range(3))
    lines = [f"  {padded(a, title)}  {b.ljust(cells)}  {c.rjust(count)}  {run}".rstrip() for a, b, c, run in rows]
    words = _("your engine: {yours} of {total} parts are yours")
    return [words.format(yours=len(own), total=len(parts)), *lines]


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
        "speed_points": speed_points(exercise, progress),
        "most_speed_points": len(exercise.speed),
    }
