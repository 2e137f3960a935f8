"""Show a hint for a function of an exercise: the first time the first rung of its ladder, then the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.terminal import open_console
from kuiper.course.errors import CourseError
from kuiper.course.hints import failing_functions, ladder_for, rung
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from kuiper.course.places import root_here, state_folder
from kuiper.course.progress import Progress, next_exercise
from kuiper.course.state_file import as_table, read_state, write_state

if TYPE_CHECKING:
    import argparse

    from rich.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = "an exercise (3.4); without one the functions of the next exercise are listed, with the hints seen so far"
    parser.add_argument("id", nargs="?", metavar="ID", help=words)
    words = "a function of it (default: the one that failed last, else the first that is not written yet)"
    parser.add_argument("function", nargs="?", metavar="FUNCTION", help=words)
    parser.add_argument(
        "-l", "--level", type=int, metavar="N", help="this rung (default: the one after the last shown)"
    )


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    console = open_console()
    path = state_folder(syllabus.root) / "hints.json"
    shown = {key: level for key, level in as_table(read_state(path)).items() if isinstance(level, int)}
    if not arguments.id:
        return _list(syllabus, shown, console)
    exercise = syllabus.exercise(arguments.id)
    if not exercise.hints:
        raise CourseError(exercise.id, "an exercise with hints", "one without")
    failing = failing_functions(syllabus.root).get(exercise.id, "")
    ladder = ladder_for(exercise, arguments.function, failing)
    key = f"{exercise.id} {ladder.function}"
    last_hint = len(ladder.rungs)
    level = arguments.level or min(max(shown.get(key, 0), 0) + 1, last_hint)
    text = rung(exercise, ladder, level)
    others = [other.short for other in exercise.hints if other != ladder]
    words = f"{exercise.id} {ladder.short}" if others else exercise.id
    name = f"{exercise.label}, {ladder.function}" if others else exercise.label
    console.print(f"{name}, hint {level} of {last_hint + 1}")
    console.print(text)
    if level == last_hint:
        console.print(f"(the last rung is the reference itself: kuiper hint {words} --level {last_hint + 1})")
    elif others and not arguments.function:
        console.print(f"(hints for another function: kuiper hint {exercise.id} {' | '.join(others)})")
    shown[key] = max(level, shown.get(key, 0))
    write_state(path, shown)
    return 0


def _list(syllabus: Syllabus, shown: dict[str, int], console: Console) -> int:
    """The functions of the next exercise that have hints, and how many of each have been seen."""
    exercise: Exercise | None = next_exercise(syllabus, Progress(syllabus.root))
    if exercise is None:
        console.print("all exercises are solved; for any of them: kuiper hint ID")
        return 0
    console.print(f"next: {exercise.label}")
    for ladder in exercise.hints:
        seen = min(max(shown.get(f"{exercise.id} {ladder.function}", 0), 0), len(ladder.rungs))
        console.print(f"  kuiper hint {exercise.id} {ladder.short}   {seen} of {len(ladder.rungs)} hints seen")
    return 0
