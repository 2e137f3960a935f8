"""A plugin of pytest: solutions in Cython, and the known mistakes in them, run as Python beside the compiled ones.

``--impl solution --in-process`` then runs the tests of compiled exercises on ``interpreted.py``. With a file in the
variable UNLIKE each test is run on the mistakes that ``catches.json`` says it catches; those whose answer as Python is
another one than compiled are written there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kuiper.course.bugs import patched, read_bugs
from kuiper.course.catches import stored_catches
from kuiper.course.diagnosis import Ran, run_on
from kuiper.course.likeness import Likeness, likeness
from kuiper.course.pytest_selection import EXERCISE, SelectionPlugin
from kuiper.course.selection import Selection
from kuiper.course.suspects import Suspect, as_python

if TYPE_CHECKING:
    from collections.abc import Generator

    from kuiper.course.manifest import Exercise

compiled_path = Selection.path


def _as_python(self: Selection, exercise: Exercise) -> Path:
    path = compiled_path(self, exercise)
    if not exercise.is_cython or path != exercise.solution_file:
        return path
    return Suspect("", as_python(exercise, path.read_text(encoding="utf-8"))).file(exercise, path)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    unlike = os.environ.get("UNLIKE", "")
    exercise = pyfuncitem.stash.get(EXERCISE, None)
    if not unlike or exercise is None:
        return (yield)
    plugin = next(p for p in pyfuncitem.config.pluginmanager.get_plugins() if isinstance(p, SelectionPlugin))
    classroom, bugs = plugin.classroom(exercise), read_bugs(exercise)
    solution, catches = exercise.solution_file.read_text(encoding="utf-8"), stored_catches(exercise)
    for bug in bugs:
        if not exercise.is_cython or catches[bug.name].tests[0] != pyfuncitem.name:
            continue
        compiled = run_on(classroom, exercise, bug, bugs, pyfuncitem)
        text = as_python(exercise, patched(solution, bug, bug.name))
        file = Suspect(bug.when, text).file(exercise, exercise.solution_file)
        selection = classroom.selection_for(exercise).with_path(exercise, file)
        other = Ran.of(pyfuncitem).error_on(classroom.implementation(exercise, selection))
        if likeness(compiled, other) != Likeness.EXACT:
            with Path(unlike).open("a", encoding="utf-8") as out:
                out.write(json.dumps([exercise.id, bug.name, str(compiled), str(other)]) + "\n")
    return (yield)


def pytest_configure() -> None:
    if not os.environ.get("UNLIKE"):
        Selection.path = _as_python  # type: ignore[method-assign]
