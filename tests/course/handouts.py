"""A small course, handed out, and what an update makes of a student's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.handout import update
from kuiper.course.handout_record import RECORD
from tests.course.made_up import made_up

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

EXERCISE = "course1_made_up/exercises/double.py"
TEST = "course1_made_up/test_double.py"
LECTURE = "notebooks/01.ipynb"
PAGE = "notes.md"


def course_to_hand_out(root: Path) -> Syllabus:
    """The made-up course with a lecture and a page beside it."""
    syllabus = made_up(root)
    (root / "notebooks").mkdir()
    (root / LECTURE).write_text("{}")
    (root / PAGE).write_text("first\n")
    return syllabus


def names_below(root: Path) -> dict[str, Path]:
    """All files below a folder."""
    return {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}


def texts(folder: Path) -> dict[str, bytes]:
    """All that a folder holds, but for what kuiper notes there itself."""
    names = names_below(folder)
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith((RECORD, ".kuiper/"))}


def changes(folder: Path) -> dict[str, tuple[str, str]]:
    """What an update says of each file."""
    return {change.name: (change.fate, change.note) for change in update(folder)}


def newer_solution(author: Syllabus, id_: str = "1.1") -> None:
    """Change a solution, and so the exercise that is made of it."""
    path = author.exercise(id_).solution_file
    path.write_text(path.read_text().replace("Twice x", "Two times x"))
