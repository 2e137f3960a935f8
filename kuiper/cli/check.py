"""Test one exercise, or all of a course: pytest with the right words, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.in_place import pytest_here
from kuiper.course.manifest import read_syllabus, test_files
from kuiper.course.places import root_here
from kuiper.course.pytest_command import pytest_words
from kuiper.language import _

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=_("an exercise (3.4), or a course (3)"))
    parser.add_argument("--hint", type=int, default=1, metavar="N", help=_("which hint to show with a failure"))
    parser.add_argument("--call", action="store_true", help=_("show the call that failed as Python, to be pasted"))
    parser.add_argument(
        "--ref", action="append", default=[], metavar="ID", help=_("use the reference for this exercise")
    )


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    files = [str(path) for path in test_files(syllabus.matching(arguments.id))]
    words = [f"--exercise={arguments.id}", f"--hint={arguments.hint}", *(f"--ref={id_}" for id_ in arguments.ref)]
    words += ["--call"] if arguments.call else []
    return 0 if pytest_here(pytest_words(*words, *files), syllabus.root) == 0 else 1
