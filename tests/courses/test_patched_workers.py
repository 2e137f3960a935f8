"""Skeletons that change what runs beside them: no exercise of the real courses gives a point for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kuiper.course.grade import grade_one
from kuiper.course.manifest import read_syllabus
from kuiper.course.sync import generated_text

ROOT = Path(__file__).parents[2]

COMPARISONS = """
import builtins, math, operator
import numpy as np

def always(*args, **kwargs):
    return True

for module, names in (
    (np, "allclose array_equal array_equiv isclose all any shares_memory may_share_memory"),
    (np.testing, "assert_array_equal assert_allclose assert_equal"),
    (math, "isclose isnan"),
    (operator, "eq is_"),
    (builtins, "all any"),
):
    for name in names.split():
        setattr(module, name, always)
"""

# Anyone who answers in the worker's place: the same to every call, or what could be an answer by the look of the call.
ANSWERS = """
import sys

def install():
    worker = next(m for m in list(sys.modules.values()) if hasattr(m, "serve") and hasattr(m, "observe_all"))
    seen = worker.Observation

    def observe_all(function, args, kwargs):
        given = dict([*enumerate(args), *kwargs.items()])
        return seen(value=(%s), raised=None, changed=given, printed="")

    worker.observe_all = observe_all

install()
"""
PRELUDES = {
    "comparisons": COMPARISONS,
    "true": ANSWERS % "True",
    "last argument": ANSWERS % "args[-1] if args else None",
}


@pytest.mark.gates
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PRELUDES)
def test_no_exercise_is_solved_by_what_it_patches(tmp_path: Path, name: str) -> None:
    syllabus = read_syllabus(ROOT)
    submission = tmp_path / "mallory"
    submission.mkdir()
    for exercise in syllabus:
        (submission / exercise.file).write_text(generated_text(exercise) + PRELUDES[name], encoding="utf-8")
    report = grade_one(syllabus, list(syllabus), submission, 200.0)
    assert {grade.id: grade.points for grade in report.grades} == dict.fromkeys((ex.id for ex in syllabus), 0)
    assert {grade.verdict for grade in report.grades} <= {"wrong", "unfinished", "blocked"}
    assert len({line for line in report.odd if "imports" in line or "changes" in line or "uses" in line}) >= len(
        list(syllabus)
    )
