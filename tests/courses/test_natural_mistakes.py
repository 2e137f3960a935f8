"""Mistakes that are not in the bank: they fit the exercises, and repairs and slips name some that nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from kuiper.course.handout import start
from kuiper.course.manifest import read_syllabus
from kuiper.course.sync import generated_text
from tests.courses.natural_mistakes import FOLDER, LIKELY, report, wrong_files

SYLLABUS = read_syllabus(Path(__file__).parents[2])
IDS = sorted(path.stem for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("id_", IDS)
def test_wrong_files_of_an_exercise_differ(id_: str) -> None:
    exercise = SYLLABUS.exercise(id_.rstrip("b"))
    texts = [text for _, text in wrong_files(exercise, generated_text(exercise), id_.removeprefix(exercise.id))]
    assert len(set(texts)) == len(texts) > 8


@pytest.mark.parametrize(
    ("id_", "did", "words"),
    [
        ("1.3", "left counted twice", "`left` stands where `right` belongs"),
        ("1.3", "picture placed at bottom/right offsets", "`bottom` and `right` stand where `up` and `left` belong"),
        ("2.7", "steps counted from 1", "a number is one too large in line "),
        ("3.3", "padding forgotten for rows", "a term with `padding_h` is not subtracted where `row` is computed"),
        ("5.14", "= for +=", "`total` is set anew each time"),
        ("1.1", "C loop stops before axis 0", "the loop over `i` ends one turn too early in line "),
        ("1.2", "order ignored in fill", "`order` is not handed on to `indexes` in line "),
        ("2.3", "name without operator", "`read_attributes` does not use `operator`"),
        ("2.3", "widen: shifted by 8", "another number belongs in line "),
        ("1.2b", "rest = number // length (own length twice)", "`number` stands where `rest` belongs"),
        ("1.2b", "reshape forgets others == 0", "nothing checks for this case, so that Python's own ZeroDivision"),
        ("1.4b", "missing comma in tuple", "something of type int is joined to a tuple by `+`"),
        ("1.5b", "places not reset (set before the loop)", "`place_x` and `place_y` are set once, before the loop"),
        ("2.1b", "outputs slice", "`n_out` stands where `n_in` belongs"),
        ("3.6", "gamma None not treated", "something is None"),
        ("3.5", "a list comes back", "no array is returned"),
        ("3.5", "return within the loop over images", "`return` stands in the loop over `i`"),
    ],
)
def test_a_natural_mistake_is_named_although_the_bank_lacks_it(tmp_path: Path, id_: str, did: str, words: str) -> None:
    start(tmp_path / "class")
    exercise = read_syllabus(tmp_path / "class").exercise(id_.rstrip("b"))
    skeleton = exercise.student_file.read_text(encoding="utf-8")
    texts = dict(wrong_files(exercise, skeleton, id_.removeprefix(exercise.id)))
    exercise.student_file.write_text(texts[did], encoding="utf-8")
    assert report(tmp_path / "class", exercise)[0].partition(LIKELY)[2].startswith(words)
