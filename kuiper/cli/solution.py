"""Show the reference solution of an exercise, after asking."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax

from kuiper.course.hints import solution_text
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import root_here
from kuiper.course.progress import Progress

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an exercise (3.4)")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    exercise = syllabus.exercise(arguments.id)
    solved = Progress(syllabus.root).status(exercise) == "solved"
    if not (
        arguments.yes or solved or confirmed(f"{exercise.label} is not solved yet. Show the reference all the same?")
    ):
        print(f"kuiper hint {exercise.id} may be enough")
        return 1
    Console().print(
        Syntax(solution_text(exercise), "cython" if exercise.is_cython else "python", background_color="default")
    )
    return 0


def confirmed(question: str) -> bool:
    """Whether the user says yes; silence and the end of input are a no."""
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
