"""docs/bug-bank.md: every bug of every exercise, and the tests that catch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.bugs import read_bugs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.gate_runs import Run
    from kuiper.course.manifest import Exercise

HEAD = """# The bug bank

Wrong implementations that students really write. The tests of each exercise must catch all of its bugs, and when a
student's wrong answer equals a bug's, the failure says so. Written by `kuiper course bugs`; do not edit.
"""
SHOWN = 3


def bug_table(exercises: Sequence[Exercise], run: Run) -> str:
    """The page; ``run`` says who caught whom."""
    lines = [HEAD.strip()]
    total = 0
    for exercise in exercises:
        bugs = read_bugs(exercise)
        total += len(bugs)
        lines += ["", f"## {exercise.label}", "", "| bug | this is what you get when | caught by |", "|---|---|---|"]
        for bug in bugs:
            tests = [test for id_, name, test, _ in run.catches if (id_, name) == (exercise.id, bug.name)]
            names = ", ".join(f"`{test}`" for test in tests[:SHOWN])
            more = f" and {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
            when = " ".join(bug.when.split()).replace("|", "\\|")
            lines.append(f"| {bug.name} | {when} | {names or '**nothing**'}{more} |")
    lines += ["", f"{total} bugs."]
    return "\n".join(lines) + "\n"
