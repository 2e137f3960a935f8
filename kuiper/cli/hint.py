"""Show a hint for a function of an exercise: the first time the first rung of its ladder, then the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.cli.terminal import fitted, open_console
from kuiper.course.hints import failing_functions, ladder_for, rung
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.places import root_here, state_folder
from kuiper.course.progress import Progress, next_exercise
from kuiper.course.state_file import as_table, read_state, write_state
from kuiper.course.unknown import no_function
from kuiper.language import _

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from rich.console import Console

    from kuiper.course.guidance import Ladder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = _(
        "an exercise (3.4); without one the functions of the next exercise are listed, with the hints seen so far"
    )
    parser.add_argument("id", nargs="?", metavar="ID", help=words)
    words = _("a function of it (default: the one that failed last, else the first that is not written yet)")
    parser.add_argument("function", nargs="?", metavar="FUNCTION", help=words)
    parser.add_argument(
        "-l", "--level", type=int, metavar="N", help=_("this rung (default: the one after the last shown)")
    )


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    console = open_console()
    if not arguments.id:
        return _list(syllabus, _seen(syllabus.root), console)
    exercise = syllabus.exercise(arguments.id)
    ladder, level, last_hint, text = next_hint(exercise, arguments.function, arguments.level)
    others = [other.short for other in exercise.hints if other != ladder]
    words = f"{exercise.id} {ladder.short}" if others else exercise.id
    one, several = _("{exercise}, hint {level} of {last}"), _("{exercise}, {function}, hint {level} of {last}")
    numbers = {"level": level, "last": last_hint + 1}
    console.print((several if others else one).format(exercise=exercise.label, function=ladder.function, **numbers))
    console.print(fitted(text, console.width))
    if level == last_hint:
        command = f"kuiper hint {words} --level {last_hint + 1}"
        console.print(_("(the last rung is the reference itself: {command})").format(command=command))
    elif others and not arguments.function:
        command = f"kuiper hint {exercise.id} {' | '.join(others)}"
        console.print(_("(hints for another function: {command})").format(command=command))
    return 0


class Hint(NamedTuple):
    """A rung of a ladder; behind ``last`` only the reference follows."""

    ladder: Ladder
    level: int
    last: int
    text: str


def next_hint(exercise: Exercise, function: str | None, level: int | None) -> Hint:
    """The rung that is asked for, else the one after those seen so far; it counts as seen from now on.

    Raises
    ------
    CourseError
        If there is no such rung, or no such function.
    """
    if not exercise.hints:
        raise no_function(exercise.id, [], function or "")
    root = exercise.course.parent
    failing = failing_functions(root).get(exercise.id, "")
    ladder = ladder_for(exercise, function, failing)
    key, seen, last = f"{exercise.id} {ladder.function}", _seen(root), len(ladder.rungs)
    level = level or min(max(seen.get(key, 0), 0) + 1, last)
    text = rung(exercise, ladder, level)
    write_state(_file(root), {**seen, key: max(level, seen.get(key, 0))})
    return Hint(ladder, level, last, text)


def _file(root: Path) -> Path:
    return state_folder(root) / "hints.json"


def _seen(root: Path) -> dict[str, int]:
    """How many hints have been seen, by exercise and function."""
    return {key: level for key, level in as_table(read_state(_file(root))).items() if isinstance(level, int)}


def _list(syllabus: Syllabus, shown: dict[str, int], console: Console) -> int:
    """The functions of the next exercise that have hints, and how many of each have been seen."""
    exercise: Exercise | None = next_exercise(syllabus, Progress(syllabus.root))
    if exercise is None:
        console.print(_("all exercises are solved; for any of them: kuiper hint ID"))
        return 0
    console.print(_("next: {exercise}").format(exercise=exercise.label))
    for ladder in exercise.hints:
        seen = min(max(shown.get(f"{exercise.id} {ladder.function}", 0), 0), len(ladder.rungs))
        words = _("{seen} of {total} hints seen").format(seen=seen, total=len(ladder.rungs))
        console.print(f"  kuiper hint {exercise.id} {ladder.short}   {words}")
    return 0
