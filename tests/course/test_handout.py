"""A student's own folder: written, brought up to date, and nothing of the student's is ever lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kuiper.course import handout, material
from kuiper.course.bugs import read_bugs
from kuiper.course.errors import CourseError
from kuiper.course.handout import contents, course_folder, start, update
from kuiper.course.handout_record import RECORD, read_record
from kuiper.course.manifest import read_syllabus
from kuiper.course.progress import Progress
from kuiper.course.sync import generated_text
from tests.course.made_up import made_up, solve
from tests.test_links import broken_links

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus

EXERCISE = "course1_made_up/exercises/double.py"
TEST = "course1_made_up/test_double.py"
LECTURE = "notebooks/01.ipynb"
PAGE = "notes.md"


@pytest.fixture
def author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    """A small course of which every folder is handed out; what is changed in it is a newer version."""
    root = tmp_path / "author"
    syllabus = made_up(root)
    (root / "notebooks").mkdir()
    (root / LECTURE).write_text("{}")
    (root / PAGE).write_text("first\n")
    monkeypatch.setattr(handout, "material_root", lambda: root)
    monkeypatch.setattr(handout, "material_files", lambda: names_below(root))
    return syllabus


def names_below(root: Path) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}


def texts(folder: Path) -> dict[str, bytes]:
    """All that a folder holds, but for what kuiper notes there itself."""
    names = names_below(folder)
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith((RECORD, ".kuiper/"))}


def changes(folder: Path) -> dict[str, tuple[str, str]]:
    return {change.name: (change.fate, change.note) for change in update(folder)}


@pytest.fixture
def mine(author: Syllabus, tmp_path: Path) -> Path:
    """The small course, handed out."""
    start(tmp_path / "mine")
    return tmp_path / "mine"


def newer_solution(author: Syllabus, id_: str = "1.1") -> None:
    path = author.exercise(id_).solution_file
    path.write_text(path.read_text().replace("Twice x", "Two times x"))


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


def test_a_file_that_cannot_be_written_is_left_as_it_was(
    author: Syllabus, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer_solution(author)
    before = texts(mine)

    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied", str(target))

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", refuse)
        with pytest.raises(PermissionError):
            list(update(mine))
    assert texts(mine) == before
    assert [path.name for path in mine.rglob("*.new")] == []


def test_update_of_the_same_version_changes_nothing(mine: Path) -> None:
    before = texts(mine)
    assert changes(mine) == {}
    assert texts(mine) == before


def test_update_replaces_what_the_student_has_not_changed(author: Syllabus, mine: Path) -> None:
    newer_solution(author)
    (author.root / TEST).write_text("# newer\n")
    (author.root / "course1_made_up" / "test_more.py").write_text("# more\n")
    assert changes(mine) == {
        EXERCISE: ("updated", ""),
        TEST: ("updated", ""),
        "course1_made_up/test_more.py": ("added", ""),
    }
    assert "Two times x" in (mine / EXERCISE).read_text()
    assert texts(mine) == {name: data for name, data in contents(False).items() if name != RECORD}
    assert changes(mine) == {}


def test_update_keeps_changed_exercises_and_says_where_their_new_text_is(author: Syllabus, mine: Path) -> None:
    (mine / EXERCISE).write_text("my work")
    assert changes(mine) == {EXERCISE: ("kept", "")}
    newer_solution(author)
    where = ".kuiper/skeletons/course1_made_up/double.py"
    assert changes(mine) == {EXERCISE: ("kept", f"what it says now: {where}")}
    assert (mine / EXERCISE).read_text() == "my work"
    assert (mine / where).read_text() == generated_text(author.exercise("1.1"))
    assert changes(mine) == {EXERCISE: ("kept", "")}


def test_update_restores_tests_and_keeps_the_students_version_aside(author: Syllabus, mine: Path) -> None:
    for newer, fate in ((False, "restored"), (True, "updated")):
        (mine / TEST).write_text(f"assert {newer}\n")
        if newer:
            (author.root / TEST).write_text("# newer\n")
        found = changes(mine)
        assert list(found) == [TEST]
        assert found[TEST][0] == fate
        aside = mine / found[TEST][1].removeprefix("your version: ")
        assert aside.read_text() == f"assert {newer}\n"
        assert (mine / TEST).read_text() == (author.root / TEST).read_text()


def test_update_leaves_a_lecture_that_was_run_until_there_is_a_newer_one(author: Syllabus, mine: Path) -> None:
    (mine / LECTURE).write_text('{"cells": ["my notes"]}')
    (mine / PAGE).write_text("my page")
    assert changes(mine) == {}
    (author.root / LECTURE).write_text('{"cells": []}')
    found = changes(mine)
    assert list(found) == [LECTURE]
    assert (mine / LECTURE).read_text() == '{"cells": []}'
    assert "my notes" in (mine / found[LECTURE][1].removeprefix("your version: ")).read_text()
    assert (mine / PAGE).read_text() == "my page"


def test_update_writes_what_is_missing(author: Syllabus, mine: Path) -> None:
    before = texts(mine)
    (mine / EXERCISE).unlink()
    (mine / LECTURE).unlink()
    assert changes(mine) == {EXERCISE: ("restored", ""), LECTURE: ("restored", "")}
    assert texts(mine) == before


def test_update_takes_away_what_the_course_no_longer_has_but_nothing_of_the_students(
    author: Syllabus, mine: Path
) -> None:
    fourfold = "course1_made_up/exercises/fourfold.py"
    (mine / fourfold).write_text("my work")
    (mine / TEST).write_text("my test")
    (mine / "diary.txt").write_text("not of the course")
    for name in (fourfold, TEST, LECTURE, PAGE, "course1_made_up/solutions/fourfold.py"):
        (author.root / name).unlink()
    manifest = author.root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().split('[[exercise]]\nid = "1.2"')[0])
    (mine / PAGE).write_text("my page")
    found = changes(mine)
    assert found[LECTURE] == ("removed", "")
    assert found[fourfold] == found[PAGE] == ("kept", "the course no longer has it")
    assert found[TEST][0] == "removed"
    assert (mine / found[TEST][1].removeprefix("your version: ")).read_text() == "my test"
    assert not (mine / TEST).exists()
    assert not (mine / LECTURE).exists()
    left = [(mine / name).read_text() for name in (fourfold, PAGE, "diary.txt")]
    assert left == ["my work", "my page", "not of the course"]
    assert changes(mine) == {}


@pytest.mark.parametrize("record", [None, "{ not json", '{"version": 1}', "[]"])
def test_update_without_a_record_loses_nothing(author: Syllabus, mine: Path, record: str | None) -> None:
    (mine / RECORD).unlink()
    if record is not None:
        (mine / RECORD).write_text(record)
    newer_solution(author)
    solved, test = mine / "course1_made_up/exercises/fourfold.py", mine / TEST
    solved.write_text("my work")
    test.write_text("my test")
    found = changes(course_folder(mine))
    assert found[EXERCISE] == ("updated", "")
    assert solved.read_text() == "my work"
    assert (mine / found[TEST][1].removeprefix("your version: ")).read_text() == "my test"
    assert test.read_text() == (author.root / TEST).read_text()
    assert set(changes(mine)) == {"course1_made_up/exercises/fourfold.py"}


def test_update_knows_files_whose_line_ends_git_has_changed(mine: Path) -> None:
    for name, data in texts(mine).items():
        (mine / name).write_bytes(data.replace(b"\n", b"\r\n"))
    assert changes(mine) == {}


def test_update_keeps_solutions_where_they_were_asked_for(author: Syllabus, mine: Path) -> None:
    solution = "course1_made_up/solutions/double.py"
    assert solution in {change.name for change in update(mine, solutions=True)}
    (mine / solution).unlink()
    assert changes(mine) == {solution: ("restored", "")}


def test_update_takes_away_the_known_mistakes_that_an_older_kuiper_handed_out(author: Syllabus, tmp_path: Path) -> None:
    """They show solutions line by line; the diagnosis finds them in the installed package."""
    old = tmp_path / "old"
    start(old, solutions=True)
    record = read_record(old)
    assert record is not None
    record.solutions = False
    record.save(old)
    left = old / ".kuiper" / "bug-bank" / "course1_made_up" / "tripled" / "double.py"
    left.parent.mkdir(parents=True)
    left.write_text("a solution\n")
    fates = changes(old)
    assert {name: fate for name, (fate, _) in fates.items()} == {
        name: "removed" for name in record.files if "/bugs/" in name or "/solutions/" in name
    }
    assert texts(old) == {name: data for name, data in contents(False).items() if name != RECORD}
    assert not left.exists()


def test_update_forgets_results_of_tests_that_have_changed(author: Syllabus, mine: Path) -> None:
    syllabus = read_syllabus(mine)
    for exercise in syllabus:
        exercise.student_file.write_text(f"solved {exercise.id}")
        Progress(mine).record({exercise: exercise.test_count})
    (author.root / TEST).write_text("# newer\n")
    changes(mine)
    assert [Progress(mine).status(exercise) for exercise in syllabus] == ["started", "solved"]


def test_update_refuses_a_folder_in_place_of_a_file(author: Syllabus, mine: Path) -> None:
    (mine / PAGE).unlink()
    (mine / PAGE / "inner").mkdir(parents=True)
    with pytest.raises(CourseError, match=r"notes.md: expected a file, or nothing, got a folder"):
        changes(mine)


def test_an_update_that_is_interrupted_goes_on_the_next_time(author: Syllabus, mine: Path) -> None:
    newer_solution(author)
    (author.root / TEST).write_text("# newer\n")
    steps = update(mine)
    next(steps)
    steps.close()
    record = read_record(mine)
    assert record is not None
    assert {name for name in (EXERCISE, TEST) if (mine / name).read_bytes() == contents(False)[name]} < {EXERCISE, TEST}
    assert {fate for fate, _ in changes(mine).values()} == {"updated"}
    assert texts(mine) == {name: data for name, data in contents(False).items() if name != RECORD}


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
    monkeypatch.setattr(handout, "material_files", dict)
    with pytest.raises(CourseError, match="expected a kuiper that was built with its courses, got one without them"):
        contents(False)
