"""Test one exercise, or all of a course: pytest with the right words."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from kuiper.course.in_place import pytest_here
from kuiper.course.manifest import Syllabus, read_syllabus, test_files
from kuiper.course.places import python_environment, root_here
from kuiper.course.pytest_command import pytest_command, pytest_words
from kuiper.machine.processes import has_processes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an exercise (3.4), or a course (3)")
    parser.add_argument("--hint", type=int, default=1, metavar="N", help="which hint to show with a failure")
    parser.add_argument("--call", action="store_true", help="show the call that failed as Python, to be pasted")
    parser.add_argument("--ref", action="append", default=[], metavar="ID", help="use the reference for this exercise")


def execute(arguments: argparse.Namespace) -> int:
    syllabus = read_syllabus(root_here())
    words = [f"--hint={arguments.hint}", *(f"--ref={id_}" for id_ in arguments.ref)]
    words += ["--call"] if arguments.call else []
    return run_tests(syllabus, arguments.id, words)


def run_tests(syllabus: Syllabus, part: str, words: list[str]) -> int:
    """pytest over the tests of one exercise or course; 0 if all pass, else 1."""
    exercises = syllabus.matching(part)
    files = [str(path) for path in test_files(exercises)]
    words = [f"--exercise={part}", *words, *files]
    if not has_processes():
        return 0 if pytest_here(pytest_words(*words), syllabus.root) == 0 else 1
    done = subprocess.run(pytest_command(*words), cwd=syllabus.root, env=python_environment())
    return 0 if done.returncode == 0 else 1
