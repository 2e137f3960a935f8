"""The hint ladder: a question, a pointer into the lecture, pseudo-code, all from the manifest; last the reference."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from kuiper.course.markers import BEGIN, END
from kuiper.course.sync import generated_text

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise


def ladder(exercise: Exercise) -> list[str]:
    """All rungs; the last one is the difference between the skeleton and the reference."""
    return [*exercise.hints, reference_diff(exercise)]


def reference_diff(exercise: Exercise) -> str:
    """The reference solution as a diff against the skeleton."""
    before = generated_text(exercise).splitlines()[1:]
    after = solution_text(exercise).splitlines()
    lines = list(difflib.unified_diff(before, after, "skeleton", "reference", lineterm="", n=1))
    return "\n".join(lines[2:])


def solution_text(exercise: Exercise) -> str:
    """The reference solution without its markers."""
    lines = exercise.solution_file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not BEGIN.match(line) and not END.match(line)) + "\n"
