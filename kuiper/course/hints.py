"""The hint ladder: a question, a pointer into the lecture, pseudo-code, all from the manifest; last the reference."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.markers import BEGIN, END
from kuiper.course.sync import generated_text

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise


def rung(exercise: Exercise, level: int) -> str:
    """One rung, counted from 1; the last is the difference between the skeleton and the reference.

    Raises
    ------
    CourseError
        If there is no such rung, or the reference is asked for and is not here.
    """
    last = len(exercise.hints) + 1
    if not 1 <= level <= last:
        raise CourseError("--level", f"a rung from 1 to {last}", level)
    return reference_diff(exercise) if level == last else exercise.hints[level - 1]


def reference_diff(exercise: Exercise) -> str:
    """The reference solution as a diff against the skeleton."""
    before = generated_text(exercise).splitlines()[1:]
    after = solution_text(exercise).splitlines()
    lines = list(difflib.unified_diff(before, after, "skeleton", "reference", lineterm="", n=1))
    return "\n".join(lines[2:])


def solution_text(exercise: Exercise) -> str:
    """The reference solution without its markers.

    Raises
    ------
    CourseError
        If neither the folder nor the installed package has it.
    """
    path = exercise.solution_file
    if not path.is_file():
        raise CourseError(str(path), "the reference solution", "no such file", hint="this class does not hand it out")
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not BEGIN.match(line) and not END.match(line)) + "\n"
