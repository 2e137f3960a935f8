"""The probes that time compiled exercises: their arrays are as large as the exercise wants them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course import speed
from kuiper.course.classroom import Classroom
from kuiper.course.manifest import read_syllabus
from kuiper.course.selection import Selection

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise

SYLLABUS = read_syllabus(Path(__file__).parents[2])


def probe_of(exercise: Exercise) -> Any:
    """``speed`` of the exercise's test file; None if it has none."""
    path = exercise.course / exercise.tests[0].partition("::")[0]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, "speed", None)


PROBES = {exercise: probe for exercise in SYLLABUS if exercise.is_cython and (probe := probe_of(exercise))}


@pytest.mark.parametrize("exercise", PROBES, ids=lambda exercise: exercise.id)
def test_probe_stays_within_its_arrays(exercise: Exercise) -> None:
    """The race's build writes where an index leads: here every index is checked. One call is enough."""
    selection = Selection(SYLLABUS, "student").with_path(exercise, exercise.solution_file)
    classroom = Classroom(selection)
    try:
        seen = classroom.implementation(exercise, seconds=60.0).observe_probe(PROBES[exercise], (), {})
    finally:
        classroom.close()
    assert seen.raised is None
    seconds, work, unit, *rest = seen.value
    assert seconds > 0
    assert work > 0
    assert unit
    assert rest in [[], *([limit] for limit in speed.LIMITS)]


def test_points_for_speed_are_where_there_is_a_probe() -> None:
    assert [exercise.id for exercise in SYLLABUS if exercise.speed] == [exercise.id for exercise in PROBES]
