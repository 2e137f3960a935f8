"""Compiled exercises as Python: solutions pass their own tests, and known mistakes answer as they do when compiled."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kuiper.course.manifest import Exercise, read_syllabus
from kuiper.course.places import pytest_environment
from kuiper.course.pytest_command import LEFT_OUT

SYLLABUS = read_syllabus(Path(__file__).parents[2])
COMPILED = [exercise for exercise in SYLLABUS if exercise.is_cython]
UNLIKE = {("4.7", "python-list")}  # about digits that Python's floats have beyond C's
every_compiled = pytest.mark.parametrize("exercise", COMPILED, ids=lambda exercise: exercise.id)


def run(exercise: Exercise, unlike: str, *words: str) -> str:
    plugins = ("-p", "kuiper.course.pytest_plugin", "-p", "tests.courses.as_python")
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore::RuntimeWarning", *plugins, *LEFT_OUT]
    command += ["--impl", "solution", *words, exercise.course.name, "--exercise", exercise.id]
    env = {**pytest_environment(), "UNLIKE": unlike}
    return subprocess.run(command, cwd=SYLLABUS.root, env=env, capture_output=True, text=True, check=False).stdout


@pytest.mark.thorough
@every_compiled
def test_interpreted_solutions_pass_their_tests(exercise: Exercise) -> None:
    assert f"{exercise.test_count} passed" in run(exercise, "", "--in-process")


@pytest.mark.gates
@every_compiled
def test_interpreted_mistakes_answer_as_compiled_ones(exercise: Exercise, tmp_path: Path) -> None:
    found = tmp_path / "unlike"
    assert f"{exercise.test_count} passed" in run(exercise, str(found))
    lines = found.read_text(encoding="utf-8").splitlines() if found.is_file() else []
    assert {tuple(json.loads(line)[:2]) for line in lines} <= UNLIKE
