"""Show the reference solution of an exercise, after asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.syntax import Syntax

from kuiper.cli.terminal import confirmed, open_console, say
from kuiper.course.hints import solution_text
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import root_here
from kuiper.course.progress import Progress
from kuiper.language import _
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_("an exercise (3.4)"))
    parser.add_argument("-y", "--yes", action="store_true", help=_("do not ask"))


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    exercise = syllabus.exercise(arguments.id)
    solved = Progress(syllabus.root).status(exercise) == "solved"
    question = _("{exercise} is not solved yet. Show the reference all the same?").format(exercise=exercise.label)
    if not (arguments.yes or solved or confirmed(question)):
        say(_("{command} may be enough").format(command=f"kuiper hint {exercise.id}"))
        return 1
    open_console().print(
        Syntax(
            printable(solution_text(exercise), keep="\n"),
            "cython" if exercise.is_cython else "python",
            background_color="default",
        )
    )
    return 0
