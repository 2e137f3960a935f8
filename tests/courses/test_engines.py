"""What the student's engine can do behind each course: ``kuiper race tensor``, and so on, with the solutions in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kuiper.course.differences import TOLERANCE, relative_error
from kuiper.course.manifest import Course, read_syllabus
from kuiper.course.own_layers import course_module
from kuiper.course.selection import Kind, Selection, selected

ROOT = Path(__file__).parents[2]
SYLLABUS = read_syllabus(ROOT)
RACES = SYLLABUS.races()
USED = [(race, part) for race, course in RACES.items() for part in course.afterwards.parts]  # type: ignore[union-attr]


def answer(course: Course, kinds: dict[str, Kind], others: Kind) -> list[np.ndarray]:
    with selected(Selection(SYLLABUS, others, kinds, mode="fast")):
        run = course_module(course.folder, "engine").own()
        return [np.asarray(array) for array in run()]


def test_races_grow_with_each_course() -> None:
    assert [(race, course.name) for race, course in RACES.items()] == [
        ("tensor", "course1_tensor"),
        ("linear", "course2_graph"),
        ("convolution", "course3_layers"),
        ("formulas", "course4_expression"),
        ("photo", "course5_models"),
        ("serving", "course6_serving"),
    ]


@pytest.mark.parametrize("race", RACES)
def test_own_needs_no_exercise_but_its_parts_and_answers_as_kuiper_does(race: str) -> None:
    course = RACES[race]
    assert course.afterwards is not None
    module = course_module(course.folder, "engine")
    wanted = module.reference()()
    got = answer(course, dict.fromkeys(course.afterwards.parts, "solution"), "skeleton")
    assert [array.shape for array in got] == [array.shape for array in wanted]
    assert max(relative_error(a, b) for a, b in zip(got, wanted, strict=True)) <= TOLERANCE
    assert module.words(got) == module.words(wanted)


@pytest.mark.parametrize(("race", "part"), USED)
def test_own_uses_each_of_its_parts(race: str, part: str) -> None:
    with pytest.raises(Exception, match=rf"exercise {part}: "):
        answer(RACES[race], {part: "skeleton"}, "solution")


def test_words_of_the_photo() -> None:
    module = course_module(RACES["photo"].folder, "engine")
    assert module.words(module.reference()()).startswith("cat 9")


def test_words_of_the_readers_and_of_a_difference() -> None:
    module = course_module(RACES["serving"].folder, "engine")
    right = module.reference()()
    assert module.words(right).startswith("16 readers, 432 tokens; the last one reads:\nPROSPERO:\n")
    wrong = [*right[:2], right[2][:-1], *right[3:]]
    assert module.difference(wrong, right) == "reader 3 got 15 tokens in place of 16"
    wrong[2] = right[2] + (np.arange(16) == 5)
    assert module.difference(wrong, right).startswith("reader 3 reads '")
