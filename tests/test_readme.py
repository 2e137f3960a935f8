"""The README says how much there is, and it is so; the same tables say the same in a student's folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kuiper.course.manifest import read_syllabus
from tests.words import count

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAX_WORDS = 900


def courses(page: str) -> list[list[str]]:
    """The cells of the table of courses, row by row."""
    lines = re.findall(r"^\| (?:\[\d|\| \[0).*\|$", page, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_readme_is_short() -> None:
    assert count(README) <= MAX_WORDS


def test_readme_counts_the_exercises_of_each_course() -> None:
    named = {row[0][1]: row[3] for row in courses(README) if row[0]}
    assert named == {
        course.folder.name[len("course")]: str(len(course.exercises)) for course in read_syllabus(ROOT).courses
    }


@pytest.mark.parametrize("page", ["README.md", "student_folder/README.md"])
def test_table_of_courses_has_every_lecture(page: str) -> None:
    table = "\n".join(cell for row in courses((ROOT / page).read_text(encoding="utf-8")) for cell in row)
    linked = re.findall(r"\(notebooks/(\w+)\.ipynb\)", table)
    assert linked == sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))


def test_student_folder_has_the_table_of_the_readme() -> None:
    student = (ROOT / "student_folder" / "README.md").read_text(encoding="utf-8")
    assert courses(student) == [row[:3] for row in courses(README)]


def test_readme_says_that_make_demo_and_make_test_are_its_commands() -> None:
    assert set(re.findall(r"\bmake ([a-z]+)", README)) == {"demo", "test"}
