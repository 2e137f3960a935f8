"""The page of the bug bank: every bug of every exercise, and the tests that catch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.bugs import read_bugs
from kuiper.course.catches import Caught, stored_catches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.manifest import Exercise

HEAD = """# The bug bank

Wrong implementations that students really write. The tests of each exercise must catch all of its bugs, and when a
student's wrong answer equals a bug's, the failure says so.
"""
TABLE = "| bug | this is what you get when | caught by |\n|---|---|---|\n"


def bug_table(exercises: Sequence[Exercise]) -> str:
    """The page, of what is stored beside the bugs.

    Parameters
    ----------
    exercises : those that the page has, in this order
    """
    bugs = sum(len(read_bugs(exercise)) for exercise in exercises)
    return "\n".join([HEAD, *map(_section, exercises), f"{bugs} bugs.\n"])


def _section(exercise: Exercise) -> str:
    lines, known = [], stored_catches(exercise)
    for bug in read_bugs(exercise):
        caught = known.get(bug.name, Caught((), 0))
        names = ", ".join(f"`{test}`" for test in caught.tests)
        more = f" and {caught.more} more" if caught.more else ""
        when = " ".join(bug.when.split()).replace("|", "\\|")
        lines.append(f"| {bug.name} | {when} | {names or '**nothing**'}{more} |\n")
    return f"## {exercise.label}\n\n{TABLE}{''.join(lines)}"
