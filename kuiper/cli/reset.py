"""Write an exercise's skeleton anew; what stood there is kept as a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.cli.terminal import say
from kuiper.course import sync
from kuiper.course.compile_errors import shown
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import root_here
from kuiper.language import _
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_("an exercise (3.4)"))


def execute(arguments: argparse.Namespace) -> int:
    exercise = read_syllabus(root_here()).exercise(arguments.id)
    backup = sync.reset(exercise)
    say(printable(_("{file} is the skeleton again").format(file=shown(exercise.student_file))))
    if backup:
        say(printable(_("your version: {file}").format(file=shown(backup))))
    return 0
