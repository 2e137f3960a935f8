"""A student's own folder, brought up to date: nothing of the student's is ever lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.course.contents import contents
from kuiper.course.errors import CourseError
from kuiper.course.handout import course_folder, start, update
from kuiper.course.handout_record import RECORD, read_record
from kuiper.course.manifest import read_syllabus
from kuiper.course.progress import Progress
from kuiper.course.sync import generated_text
from tests.course.handouts import EXERCISE, LECTURE, PAGE, TEST, changes, newer_solution, texts

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus


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
