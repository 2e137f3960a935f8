"""The gates on every course of this repository: what docs/teach/write-an-exercise.md promises of each exercise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kuiper.course import gate_runs, gates
from kuiper.course.manifest import Course, Exercise, read_syllabus
from kuiper.course.task_table import readmes_with_tables

if TYPE_CHECKING:
    from kuiper.course.gate_runs import Runs

SYLLABUS = read_syllabus(Path(__file__).parents[2])
every_exercise = pytest.mark.parametrize(
    "exercise", list(SYLLABUS), ids=lambda exercise: exercise.label.replace(" ", "-")
)
pytestmark = pytest.mark.timeout(1200)  # a first run compiles every .pyx and each of its bugs; later ones find them


@pytest.fixture(scope="module")
def runs() -> Runs:
    return gate_runs.run_all(SYLLABUS, list(SYLLABUS))


@pytest.fixture(scope="module")
def pages() -> list[tuple[str, str]]:
    return gates.published_pages(SYLLABUS.root)


@every_exercise
def test_manifest_is_complete(exercise: Exercise) -> None:
    assert gates.manifest_is_complete(SYLLABUS, exercise) == []
    assert gates.symbols_are_defined(exercise) == []


@every_exercise
def test_functions_have_hints(exercise: Exercise) -> None:
    assert gates.functions_have_hints(exercise) == []


@every_exercise
def test_skeleton_is_in_sync(exercise: Exercise) -> None:
    assert gates.skeleton_is_in_sync(exercise) == []


@every_exercise
def test_nothing_leaks(exercise: Exercise, pages: list[tuple[str, str]]) -> None:
    assert gates.nothing_leaks(exercise, pages) == []


@every_exercise
def test_examples_hold(exercise: Exercise) -> None:
    assert gates.examples_hold(SYLLABUS, exercise) == []


@pytest.mark.gates
@every_exercise
def test_solution_passes_alone(exercise: Exercise, runs: Runs) -> None:
    assert gates.solution_passes(exercise, runs) == []


@pytest.mark.gates
@every_exercise
def test_skeleton_fails_in_its_own_name(exercise: Exercise, runs: Runs) -> None:
    assert gates.skeleton_fails(exercise, runs) == []


@pytest.mark.gates
@every_exercise
def test_bugs_are_caught(exercise: Exercise, runs: Runs) -> None:
    assert gates.bugs_are_caught(exercise, runs) == []


@pytest.mark.gates
@every_exercise
def test_hints_fit(exercise: Exercise, runs: Runs) -> None:
    assert gates.hints_fit(exercise, runs) == []


@pytest.mark.parametrize("course", SYLLABUS.courses, ids=lambda course: course.name)
def test_readmes_have_the_tasks_of_the_manifest_in_each_language(course: Course) -> None:
    for path, text in readmes_with_tables(course):
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run kuiper course tasks"
