"""What is stored of the real bugs fits them: a bug that is renamed or new must be run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kuiper.course.bug_table import bug_table
from kuiper.course.bugs import patched, read_bugs
from kuiper.course.catches import stored_catches
from kuiper.course.manifest import Exercise, read_syllabus

SYLLABUS = read_syllabus(Path(__file__).parents[2])


@pytest.mark.parametrize("exercise", list(SYLLABUS), ids=lambda exercise: exercise.id)
def test_every_bug_is_stored_with_a_test_that_catches_it(exercise: Exercise) -> None:
    stored = stored_catches(exercise)
    assert list(stored) == [bug.name for bug in read_bugs(exercise)], f"kuiper course bugs {exercise.id}"
    assert [name for name, caught in stored.items() if not caught.tests] == []


@pytest.mark.parametrize("exercise", list(SYLLABUS), ids=lambda exercise: exercise.id)
def test_no_two_bugs_are_the_same_program(exercise: Exercise) -> None:
    solution, programs = exercise.solution_file.read_text(encoding="utf-8"), dict[str, str]()
    for bug in read_bugs(exercise):
        first = programs.setdefault(patched(solution, bug, bug.name), bug.name)
        assert first == bug.name, f"{bug.name}: a failure would name both mistakes; leave one"


def test_table_has_all_exercises_and_bugs() -> None:
    page = bug_table(list(SYLLABUS))
    assert page.count("\n## ") == len(list(SYLLABUS))
    assert f"{sum(len(read_bugs(exercise)) for exercise in SYLLABUS)} bugs." in page
    assert "**nothing**" not in page
