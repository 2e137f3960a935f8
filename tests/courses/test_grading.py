"""The real courses, graded: the references get all points, in every kind of sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from kuiper.course.grade import grade_one
from kuiper.course.manifest import read_syllabus
from kuiper.course.sandbox import Mode, works

ROOT = Path(__file__).parents[2]


@pytest.mark.gates
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", get_args(Mode))
def test_the_references_get_all_points(tmp_path: Path, mode: Mode) -> None:
    if not works(mode):
        pytest.skip(f"no {mode} here")
    syllabus = read_syllabus(ROOT)
    submission = tmp_path / "ada"
    for exercise in syllabus:
        path = submission / exercise.course.name / "exercises" / exercise.file
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = exercise.solution_file.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line for line in lines if "SOLUTION" not in line) + "\n", encoding="utf-8")
    report = grade_one(syllabus, list(syllabus), submission, 200.0, mode)
    assert {grade.id: (grade.verdict, grade.message) for grade in report.grades if grade.points != grade.full} == {}
    assert report.odd == ()
