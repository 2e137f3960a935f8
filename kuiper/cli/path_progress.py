"""What ``kuiper progress --path NAME`` prints: the exercises of a short path, how far one is, and what comes next."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.table import Table

from kuiper.course.classroom import hole
from kuiper.course.short_paths import Route, check_command, in_hours, routes

if TYPE_CHECKING:
    from rich.console import Console

    from kuiper.course.manifest import Exercise, Syllabus
    from kuiper.course.progress import Progress

WIDTH = 80
COLOURS = {"solved": "green", "failing": "red", "started": "yellow", "not started": "dim"}


def show_route(way: Route, syllabus: Syllabus, progress: Progress, console: Console) -> None:
    """Print a path: its goal, a row for each exercise, the time, what the reference does, and the next step."""
    compiler = "some exercises need a C compiler" if way.needs_compiler else "no C compiler is needed"
    say(f"{way.path.title}: {len(way.exercises)} exercises, about {in_hours(way.minutes)}; {compiler}", console)
    say(way.path.goal, console)
    console.print()
    console.print(_table(way, progress))
    console.print()
    if way.path.answers:
        console.print("What each exercise answers in an interview:")
        for exercise in way.exercises:
            if question := way.path.answers.get(exercise.id):
                say(question, console, first=f"  {exercise.id:<5}", rest=" " * 7)
        console.print()
    if way.borrowed:
        names = " ".join(exercise.id for exercise in way.borrowed)
        say(f"the reference does what this path leaves out: {names}", console)
    left = [exercise for exercise in way.exercises if progress.status(exercise) != "solved"]
    say(f"{len(way.exercises) - len(left)} of {len(way.exercises)} solved, {in_hours(_minutes(left))} left", console)
    if left:
        say(f"next: {left[0].label} ({left[0].minutes} minutes), {hole(left[0])}", console)
        console.print(f"test it: {check_command(syllabus, way, left[0])}", soft_wrap=True)


def path_lines(syllabus: Syllabus) -> list[str]:
    """One line for each short path of the courses, under a line that says how to see one; none if there are none."""
    ways = routes(syllabus)
    if not ways:
        return []
    width = max(len(way.path.name) for way in ways)
    lines = [f"  {w.path.name:<{width}}  {len(w.exercises):2} exercises, {in_hours(w.minutes)}" for w in ways]
    return ["short paths (kuiper progress --path NAME):", *lines]


def route_as_dict(way: Route) -> dict[str, object]:
    """A path for other programs, without its exercises."""
    return {
        "name": way.path.name,
        "title": way.path.title,
        "goal": way.path.goal,
        "minutes": way.minutes,
        "reference": [exercise.id for exercise in way.borrowed],
        "answers": way.path.answers,
    }


def say(text: str, console: Console, first: str = "", rest: str = "") -> None:
    """Print a text in lines that fit a narrow terminal; a long word such as a file's place stays whole."""
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    for line in lines:
        console.print(line, soft_wrap=True)


def _minutes(exercises: list[Exercise]) -> int:
    return sum(exercise.minutes for exercise in exercises)


def _table(way: Route, progress: Progress) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "exercise", "min", "status", "tests"):
        table.add_column(heading, justify="right" if heading in ("min", "tests") else "left")
    for exercise in way.exercises:
        status, result = progress.status(exercise), progress.result(exercise)
        tests = f"{result.passed}/{result.total}" if result and status != "not started" else ""
        table.add_row(exercise.id, exercise.title, str(exercise.minutes), status, tests, style=COLOURS[status])
    return table
