"""docs/teach/bug-bank.md: every bug of every exercise, and the tests that catch it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kuiper.course.bugs import read_bugs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.course.gate_runs import Run
    from kuiper.course.manifest import Exercise

HEAD = """# The bug bank

Wrong implementations that students really write. The tests of each exercise must catch all of its bugs, and when a
student's wrong answer equals a bug's, the failure says so. Written by `kuiper course bugs`; do not edit.
"""
TABLE = "| bug | this is what you get when | caught by |\n|---|---|---|\n"
SECTION = re.compile(r"^## (\S+) [^\n]*\n\n" + re.escape(TABLE) + r"(?:\|[^\n]*\n)*", re.MULTILINE)
ROW = re.compile(r"^\| (\S+) \| .*? \| `([^`]+)`.* \|$", re.MULTILINE)
SHOWN = 3


def bug_table(exercises: Sequence[Exercise], run: Run, kept: Mapping[str, str] | None = None) -> str:
    """The page.

    Parameters
    ----------
    exercises : all that the page has, in this order
    run : says who caught whom
    kept : sections that stay as they are, by the number of their exercise; the run need not have these
    """
    kept = kept or {}
    sections = [kept.get(exercise.id) or _section(exercise, run) for exercise in exercises]
    total = sum(section.count("\n| ") - 1 for section in sections)  # the first of these lines is the table's head
    return "\n".join([HEAD, *sections, f"{total} bugs.\n"])


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page that was written before, by the number of their exercise.

    >>> page = "# The bug bank\\n\\n## 1.2 reshape\\n\\n" + TABLE + "| a | b | `c` |\\n\\n1 bugs.\\n"
    >>> list(sections_of(page))
    ['1.2']
    >>> sections_of(page)["1.2"].splitlines()[-1]
    '| a | b | `c` |'
    """
    return {found[1]: found[0] for found in SECTION.finditer(page)}


def first_catchers(page: str) -> dict[str, dict[str, str]]:
    """The test that a page names first for each bug, by the number of the exercise and the name of the bug.

    >>> page = "# The bug bank\\n\\n## 1.2 reshape\\n\\n" + TABLE + "| a | b | `test_c[1]`, `test_d` |\\n\\n1 bugs.\\n"
    >>> first_catchers(page)
    {'1.2': {'a': 'test_c[1]'}}
    """
    return {id_: dict(ROW.findall(section)) for id_, section in sections_of(page).items()}


def _section(exercise: Exercise, run: Run) -> str:
    lines = []
    for bug in read_bugs(exercise):
        tests = [test for id_, name, test, _ in run.catches if (id_, name) == (exercise.id, bug.name)]
        names = ", ".join(f"`{test}`" for test in tests[:SHOWN])
        more = f" and {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
        when = " ".join(bug.when.split()).replace("|", "\\|")
        lines.append(f"| {bug.name} | {when} | {names or '**nothing**'}{more} |\n")
    return f"## {exercise.label}\n\n{TABLE}{''.join(lines)}"
