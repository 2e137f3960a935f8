"""The hint ladder of a function: a question, a pointer into the lecture, pseudo-code, all from the manifest; last the
reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kuiper.course.errors import CommandError
from kuiper.course.markers import BEGIN, END, regions
from kuiper.course.phrases import phrase
from kuiper.course.places import state_folder
from kuiper.course.state_file import as_table, read_state, write_state
from kuiper.language import _, translate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kuiper.course.guidance import Ladder
    from kuiper.course.manifest import Exercise

FAILING = "failing.json"


def rung(exercise: Exercise, ladder: Ladder, level: int) -> str:
    """One rung, counted from 1; the last is the function's part of the reference.

    Raises
    ------
    CourseError
        If there is no such rung, or the reference is asked for and is not here.
    """
    last = len(ladder.rungs) + 1
    if not 1 <= level <= last:
        raise CommandError("--level", phrase("a rung from 1 to {last}", last=last), level)
    return reference_part(exercise, ladder) if level == last else translate(ladder.rungs[level - 1], "hints")


def ladder_for(exercise: Exercise, function: str | None, failing: str = "") -> Ladder:
    """The hints for the function that is asked for; else for the one that failed last, or that is not written yet.

    Raises
    ------
    CourseError
        If the exercise has no hints for a function of this name.
    """
    if function:
        return exercise.ladder(function)
    if failing and exercise.has_ladder(failing):
        return exercise.ladder(failing)
    path = exercise.student_file
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    holes = re.findall(rf'NotImplementedError\("exercise {re.escape(exercise.id)}: ([\w.]+)"', text)
    waiting = [name for name in holes if exercise.has_ladder(name)]
    return exercise.ladder(waiting[0] if waiting else exercise.hints[0].function)


def failing_functions(root: Path) -> dict[str, str]:
    """For each exercise whose failure a test run has shown: the function whose hint stood there."""
    table = as_table(read_state(state_folder(root) / FAILING))
    return {id_: function for id_, function in table.items() if isinstance(function, str)}


def remember_failing(root: Path, functions: Mapping[str, str]) -> None:
    """Keep which function's hint a test run has shown; "" where nothing of an exercise fails any more."""
    known = {**failing_functions(root), **functions}
    write_state(state_folder(root) / FAILING, {id_: function for id_, function in known.items() if function})


def reference_part(exercise: Exercise, ladder: Ladder) -> str:
    """What the reference solution has in the place of this function's holes, and outside of all functions."""
    path = exercise.solution_file
    solution_text(exercise)  # or the error that there is none
    parts = []
    for region in regions(path.read_text(encoding="utf-8"), exercise.id, path.name):
        if not exercise.has_ladder(region.function) or exercise.ladder(region.function) == ladder:
            head = region.function or _("outside of the functions")
            parts += [f"@@ {head} @@", f"-{region.hole}", *(f"+{line}" for line in region.lines)]
    return "\n".join(parts)


def solution_text(exercise: Exercise) -> str:
    """The reference solution without its markers.

    Raises
    ------
    CourseError
        If neither the folder nor the installed package has it.
    """
    path = exercise.solution_file
    if not path.is_file():
        hint = phrase("this class does not hand it out")
        raise CommandError(str(path), phrase("the reference solution"), phrase("no such file"), hint)
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not BEGIN.match(line) and not END.match(line)) + "\n"
