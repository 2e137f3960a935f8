"""Show which lines of a .pyx exercise still run Python: Cython's HTML view, the yellower the slower."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

from kuiper.cli.terminal import say
from kuiper.course.builder import annotate
from kuiper.course.errors import CommandError, ExerciseSyntaxError
from kuiper.course.manifest import read_syllabus
from kuiper.course.phrases import phrase
from kuiper.course.places import folder, root_here
from kuiper.language import _
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_("a .pyx exercise (3.4)"))
    parser.add_argument("--no-open", action="store_true", help=_("only write the file and print its path"))


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    exercise = syllabus.exercise(arguments.id)
    if not exercise.is_cython:
        raise CommandError(exercise.label, phrase("a .pyx exercise"), exercise.file)
    try:
        page = annotate(exercise.student_file, folder(syllabus.root, "annotate"))
    except ExerciseSyntaxError as error:
        say(error, error=True)
        return 1
    say(printable(str(page)))
    if not arguments.no_open:
        webbrowser.open(page.as_uri())
    return 0
