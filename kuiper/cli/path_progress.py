"""What ``kuiper progress --path NAME`` prints: the exercises of a short path, how far one is, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from kuiper.course.layout import folded
from kuiper.course.short_paths import Route, check_command, in_hours, routes
from kuiper.course.summary import next_lines
from kuiper.language import _, noop, translate

if TYPE_CHECKING:
    from rich.console import Console

    from kuiper.course.manifest import Exercise, Syllabus
    from kuiper.course.progress import Progress

COLOURS = {noop("solved"): "green", noop("failing"): "red", noop("started"): "yellow", noop("not started"): "dim"}


def show_route(way: Route, syllabus: Syllabus, progress: Progress, console: Console) -> None:
    """Print a path: its goal, a row for each exercise, the time, what the reference does, and the next step."""
    compiled = _("{path}: {count} exercises, about {time}; some exercises need a C compiler")
    words = compiled if way.needs_compiler else _("{path}: {count} exercises, about {time}; no C compiler is needed")
    title, count = translate(way.path.title, "hints"), len(way.exercises)
    say(words.format(path=title, count=count, time=in_hours(way.minutes)), console)
    say(translate(way.path.goal, "hints"), console)
    console.print()
    console.print(_table(way, progress))
    console.print()
    if way.path.answers:
        console.print(_("What each exercise answers in an interview:"))
        for exercise in way.exercises:
            if question := way.path.answers.get(exercise.id):
                say(translate(question, "hints"), console, first=f"  {exercise.id:<5}", rest=" " * 7)
        console.print()
    if way.borrowed:
        names = " ".join(exercise.id for exercise in way.borrowed)
        say(_("the reference does what this path leaves out: {exercises}").format(exercises=names), console)
    left = [exercise for exercise in way.exercises if progress.status(exercise) != "solved"]
    words = _("{solved} of {total} solved, {time} left")
    say(words.format(solved=count - len(left), total=count, time=in_hours(_minutes(left))), console)
    if left:
        for line in next_lines(left[0]):
            console.print(line, soft_wrap=True)
        words = _("test it: {command}")
        console.print(words.format(command=check_command(syllabus, way, left[0])), soft_wrap=True)


def path_lines(syllabus: Syllabus) -> list[str]:
    """One line for each short path of the courses, under a line that says how to see one; none if there are none."""
    ways = routes(syllabus)
    if not ways:
        return []
    width = max(len(way.path.name) for way in ways)
    words = _("{count} exercises, {time}")
    lengths = [words.format(count=f"{len(way.exercises):2}", time=in_hours(way.minutes)) for way in ways]
    lines = [f"  {way.path.name:<{width}}  {length}" for way, length in zip(ways, lengths, strict=True)]
    return [_("short paths (kuiper progress --path NAME):"), *lines]


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
    for line in folded(text, first=first, rest=rest):
        console.print(line, soft_wrap=True)


def _minutes(exercises: list[Exercise]) -> int:
    return sum(exercise.minutes for exercise in exercises)


def _table(way: Route, progress: Progress) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", noop("exercise"), noop("min"), noop("status"), noop("tests")):
        table.add_column(translate(heading), justify="right" if heading in ("min", "tests") else "left")
    for exercise in way.exercises:
        status, result = progress.status(exercise), progress.result(exercise)
        tests = f"{result.passed}/{result.total}" if result and status != "not started" else ""
        title = translate(exercise.title, "hints")
        table.add_row(exercise.id, title, str(exercise.minutes), translate(status), tests, style=COLOURS[status])
    return table
