"""What a notebook asks of the classroom: exercises once they are solved, tasks as the manifest has them, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.course import lecture, selection
from kuiper.course.errors import CourseError
from kuiper.course.progress import Progress
from kuiper.course.selection import Selection, selected
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus


def passed(syllabus: Syllabus, *ids: str) -> None:
    """Note down that the tests of these exercises pass."""
    progress = Progress(syllabus.root)
    for id_ in ids:
        part = syllabus.exercise(id_)
        progress.record({part: part.test_count})


def test_exercise_that_is_not_begun_is_a_friendly_line(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    with selected(Selection(syllabus)):
        assert lecture.exercise("1.1") is None
    assert (
        capsys.readouterr().out == "not yet: 1.1 double. Your turn: python -m pytest course1_made_up --exercise 1.1\n"
    )


def test_exercise_whose_tests_were_not_run_is_not_used(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    with selected(Selection(syllabus)):
        assert lecture.exercise("1.1") is None


def test_exercise_that_stands_on_an_unsolved_one_is_not_used(syllabus: Syllabus) -> None:
    solve(syllabus, "1.2")
    passed(syllabus, "1.2")
    with selected(Selection(syllabus)):
        assert lecture.exercise("1.2") is None


def test_exercise_that_is_solved_is_the_students_own(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2 + 0", "x + x"))
    passed(syllabus, "1.1")
    with selected(Selection(syllabus)):
        mine = lecture.exercise("1.1")
        assert mine is not None
        assert mine.double(4) == 8
        assert "x + x" in (syllabus.exercise("1.1").student_file).read_text()
        solve(syllabus, "1.1", ("x * 2 + 0", "x + x + 0"))  # edited since its tests passed
        assert lecture.exercise("1.1") is None


def test_exercise_or_reference_is_the_reference_until_the_tests_pass(
    syllabus: Syllabus, capsys: pytest.CaptureFixture[str]
) -> None:
    with selected(Selection(syllabus)):
        assert lecture.exercise_or_reference("1.1").double(4) == 8
        assert capsys.readouterr().out.splitlines() == [
            "not yet: 1.1 double. Your turn: python -m pytest course1_made_up --exercise 1.1",
            "Until then the reference stands in its place.",
        ]
        solve(syllabus, "1.1", ("x * 2 + 0", "x + x"))
        passed(syllabus, "1.1")
        own = lecture.exercise_or_reference("1.1")
        assert own.__file__ == str(syllabus.exercise("1.1").student_file)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("kind", "usable"), [("solution", True), ("skeleton", False)])
def test_exercise_follows_the_environment(
    syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch, kind: str, usable: bool
) -> None:
    monkeypatch.setattr(selection, "_active", [])
    monkeypatch.setenv("KUIPER_IMPL", kind)
    monkeypatch.chdir(syllabus.root)
    assert (lecture.exercise("1.1") is not None) == usable


def test_active_refuses_an_unknown_kind(syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_active", [])
    monkeypatch.setenv("KUIPER_IMPL", "teacher")
    with pytest.raises(CourseError, match="KUIPER_IMPL: expected student or solution or skeleton, got teacher"):
        selection.active()


def test_task_reads_manifest_and_bug_bank(syllabus: Syllabus) -> None:
    with selected(Selection(syllabus)):
        assert lecture.task("1.1", "sign").markdown().splitlines() == [
            "> **Exercise 1.1 double** · about 5 minutes · "
            "[course1_made_up/exercises/double.py](../course1_made_up/exercises/double.py)",
            ">",
            "> `python -m pytest course1_made_up --exercise 1.1` · `kuiper hint 1.1`",
            ">",
            "> What goes wrong here:",
            ">",
            "> - the sign is lost",
        ]


def test_task_refuses_what_is_not_in_the_bank(syllabus: Syllabus) -> None:
    with selected(Selection(syllabus)), pytest.raises(CourseError, match=r"tripled, squared, .*, got halved"):
        lecture.task("1.1", "halved")


def test_terminal_prints_the_command_and_its_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lecture.terminal("""python -c 'import os, sys; print(os.getcwd().split(os.sep)[-1]); sys.exit("oh")'""", tmp_path)
    assert capsys.readouterr().out.splitlines()[1:] == [tmp_path.name, "oh"]


def test_cython_compiles_a_few_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(tmp_path)
    monkeypatch.chdir(tmp_path)
    module = lecture.cython("def twice(double x):\n    return 2 * x\n")
    assert module.twice(1.5) == 3.0
    assert lecture.cython("def twice(double x):\n    return 2 * x\n") is module
