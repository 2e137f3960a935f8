"""A student's own folder: written, brought up to date, and nothing of the student's is ever lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kuiper.course import handout, material
from kuiper.course.bugs import read_bugs
from kuiper.course.contents import contents
from kuiper.course.errors import CourseError
from kuiper.course.handout import course_folder, start
from kuiper.course.handout_record import RECORD, language_of
from kuiper.course.manifest import read_syllabus
from kuiper.course.sync import generated_text
from tests.course.handouts import EXERCISE, changes, texts
from tests.course.made_up import solve
from tests.test_links import broken_links

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus


def test_start_writes_all_courses_with_untouched_exercises_and_no_solutions(tmp_path: Path) -> None:
    start(tmp_path / "mine")
    syllabus = read_syllabus(tmp_path / "mine")
    originals = read_syllabus(material.CHECKOUT)
    assert [exercise.id for exercise in syllabus] == [exercise.id for exercise in originals]
    for exercise in syllabus:
        assert exercise.student_file.read_text() == generated_text(originals.exercise(exercise.id))
        assert exercise.bugs_file == originals.exercise(exercise.id).bugs_file
        assert read_bugs(exercise)
        assert all((exercise.course / name.split("::")[0]).is_file() for name in exercise.tests)
    assert not [*tmp_path.rglob("solutions"), *tmp_path.rglob("bugs")]
    lectures = sorted(path.name for path in (tmp_path / "mine" / "notebooks").glob("*.ipynb"))
    assert lectures == sorted(path.name for path in (material.CHECKOUT / "notebooks").glob("*.ipynb"))
    for name in ("AGENTS.md", "README.md", "conftest.py", "pytest.ini", ".gitignore", ".vscode/settings.json"):
        assert (tmp_path / "mine" / name).is_file()


@pytest.mark.thorough
def test_start_with_solutions_writes_every_one(tmp_path: Path) -> None:
    start(tmp_path / "mine", solutions=True)
    for exercise in read_syllabus(tmp_path / "mine"):
        copy = exercise.course / "solutions" / exercise.file
        original = read_syllabus(material.CHECKOUT).exercise(exercise.id)
        assert copy.read_bytes() == original.solution_file.read_bytes()
        assert exercise.bugs_file == exercise.course / "bugs" / copy.with_suffix(".toml").name


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    start(tmp_path / "mine")
    pages = [*(tmp_path / "mine").rglob("*.md"), *(tmp_path / "mine").rglob("*.ipynb")]
    assert len(pages) > 20
    assert {page.name: links for page in pages if (links := broken_links(page))} == {}
    assert "`kuiper/layers/operators/max_pool2d.py`" in (tmp_path / "mine/notebooks/03a_layers.ipynb").read_text()
    for page in pages:
        if page.suffix == ".ipynb":
            json.loads(page.read_text())


def test_start_takes_the_authors_text_whatever_the_checkouts_own_student_wrote(
    author: Syllabus, tmp_path: Path
) -> None:
    solve(author, "1.1")
    start(tmp_path / "mine")
    assert (tmp_path / "mine" / EXERCISE).read_text() == generated_text(author.exercise("1.1"))


def test_start_hands_out_exercises_whose_solutions_were_taken_out(author: Syllabus, tmp_path: Path) -> None:
    expected = author.exercise("1.1").student_file.read_bytes()
    author.exercise("1.1").solution_file.unlink()
    start(tmp_path / "mine")
    assert (tmp_path / "mine" / EXERCISE).read_bytes() == expected


def test_start_accepts_an_empty_folder_and_one_with_an_environment(author: Syllabus, tmp_path: Path) -> None:
    (tmp_path / "mine" / ".venv").mkdir(parents=True)
    start(tmp_path / "mine")
    assert (tmp_path / "mine" / EXERCISE).is_file()


def test_start_refuses_a_folder_in_use_and_touches_nothing(author: Syllabus, tmp_path: Path) -> None:
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "thesis.txt").write_text("years of work")
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / ".gitignore").write_text("mine")
    (author.root / ".gitignore").write_text("theirs")
    (tmp_path / "file").write_text("a file")
    for name, got in (("used", "one with thesis.txt"), ("settings", "one with .gitignore"), ("file", "a file")):
        before = texts(tmp_path / name)
        with pytest.raises(CourseError, match=rf"{name}: expected a new or empty folder, got {got}"):
            start(tmp_path / name)
        assert texts(tmp_path / name) == before
    assert (tmp_path / "file").read_text() == "a file"


def test_start_refuses_a_folder_with_a_course_and_one_inside_it(mine: Path) -> None:
    (mine / EXERCISE).write_text("my work")
    for folder in (mine, mine / "again"):
        with pytest.raises(CourseError, match=r"got the course in .*mine; kuiper course update completes it"):
            start(folder)
    assert (mine / EXERCISE).read_text() == "my work"
    assert not (mine / "again").exists()


def test_start_says_which_place_cannot_be_written(author: Syllabus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    with pytest.raises(OSError, match="file") as raised:
        start(tmp_path / "file" / "below")
    assert raised.value.filename is not None


def test_start_that_was_interrupted_is_completed_by_update(
    author: Syllabus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(tmp_path / "whole")
    write, left = handout.write_whole, len(texts(tmp_path / "whole")) // 2

    def write_some(path: Path, data: bytes) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(handout, "write_whole", write_some)
        with pytest.raises(KeyboardInterrupt):
            start(tmp_path / "mine")
    assert 0 < len(texts(tmp_path / "mine")) < len(texts(tmp_path / "whole"))
    assert course_folder(tmp_path / "mine") == tmp_path / "mine"
    assert {fate for fate, _ in changes(tmp_path / "mine").values()} == {"restored"}
    assert texts(tmp_path / "mine") == texts(tmp_path / "whole")


def test_course_folder_is_found_upwards_and_is_no_checkout(author: Syllabus, mine: Path, tmp_path: Path) -> None:
    assert course_folder(mine / "course1_made_up" / "exercises") == mine
    with pytest.raises(CourseError, match="expected a course folder, here or above, got none; kuiper course start"):
        course_folder(tmp_path)
    with pytest.raises(CourseError, match="got a checkout; use git pull"):
        course_folder(material.CHECKOUT / "course1_tensor")
    (tmp_path / "other" / "course9").mkdir(parents=True)
    (tmp_path / "other" / "course9" / "course.toml").write_text('title = "another"\n')
    with pytest.raises(CourseError, match="got other courses"):
        course_folder(tmp_path / "other")


def test_contents_needs_a_kuiper_with_courses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuiper.course.contents.material_files", dict)
    with pytest.raises(CourseError, match="expected a kuiper that was built with its courses, got one without them"):
        contents(False)


@pytest.mark.parametrize(("written", "language"), [("zh", "zh"), ("/home/eve", ""), ("../zh", ""), ("", "")])
def test_language_of_a_folder_is_a_name_and_never_a_path(tmp_path: Path, written: str, language: str) -> None:
    record = {"version": "1", "solutions": False, "files": {}, "language": written}
    (tmp_path / RECORD).write_text(json.dumps(record))
    assert language_of(tmp_path) == language
