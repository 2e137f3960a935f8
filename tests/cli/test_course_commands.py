from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kuiper
from kuiper.cli import main
from kuiper.cli import watch as watch_module
from kuiper.course.catches import catches_file, stored_catches
from kuiper.course.manifest import read_syllabus
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from kuiper.course.manifest import Syllabus


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.chdir(tmp_path)
    return made_up(tmp_path)


def test_progress(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["progress"]) == 0
    text = capsys.readouterr().out
    assert "next: 1.1 double (5 minutes), course1_made_up/exercises/double.py:11" in text
    assert main(["progress", "--json", "1.2"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    of_tests = {"id": "1.2", "title": "fourfold", "points": 3, "status": "not started", "passed": 0, "tests": 1}
    assert entry == of_tests | {"speed_points": 0, "most_speed_points": 0}


def test_hint_climbs_the_ladder_but_not_to_the_reference(
    syllabus: Syllabus, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for _ in range(4):
        assert main(["hint", "1.1"]) == 0
        texts.append(capsys.readouterr().out.splitlines()[1])
    assert texts == ["what is twice?", "see the lecture", "multiply", "multiply"]
    assert main(["hint", "1.1", "--level", "4"]) == 0
    assert "+    result = x * 2 + 0" in capsys.readouterr().out
    assert main(["hint", "1.1", "--level", "5"]) == 1
    assert capsys.readouterr().err == "kuiper hint: --level: expected a rung from 1 to 4, got 5\n"


def test_solution_asks_first(
    syllabus: Syllabus, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    for answer, code in (("", 1), ("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        assert main(["solution", "1.1"]) == code
        text = capsys.readouterr().out
        assert ("result = x * 2 + 0" in text) == (code == 0)
        assert "BEGIN SOLUTION" not in text


def test_reset_keeps_a_backup(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    solve(syllabus, "1.1")
    mine = syllabus.exercise("1.1").student_file.read_text()
    assert main(["reset", "1.1"]) == 0
    backup = Path(capsys.readouterr().out.splitlines()[1].removeprefix("your version: "))
    assert backup.read_text() == mine
    assert main(["course", "sync", "--check"]) == 0


def test_course_sync_and_its_check(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["course", "sync", "--check"]) == 0
    solve(syllabus, "1.1")
    syllabus.exercise("1.2").student_file.unlink()
    assert main(["course", "sync", "--check"]) == 1
    assert "1.2 fourfold: missing" in capsys.readouterr().out
    assert main(["course", "sync"]) == 0
    text = capsys.readouterr().out
    assert "wrote course1_made_up/exercises/fourfold.py" in text
    assert "1.1 double: changed by hand, left alone" in text
    assert main(["course", "sync", "--reset", "1.1"]) == 0
    assert main(["course", "sync", "--check"]) == 0


def test_annotate_refuses_python(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "1.1"]) == 1
    assert capsys.readouterr().err == "kuiper annotate: 1.1 double: expected a .pyx exercise, got double.py\n"


def test_check_is_red_until_solved(syllabus: Syllabus, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "1.1"]) == 1
    solve(syllabus, "1.1")
    assert main(["check", "1.1"]) == 0
    assert "1/2 solved" in capfd.readouterr().out


@pytest.mark.thorough
def test_watch_waits_for_the_next_save(syllabus: Syllabus) -> None:
    before = watch_module.saves(syllabus)
    solve(syllabus, "1.2")
    changed, now = watch_module.wait_for_save(syllabus, {**before, "1.2": 0.0})
    assert changed.id == "1.2"
    assert now == watch_module.saves(syllabus)
    assert main(["check", "1"]) == 1


def test_an_unknown_number_is_one_line(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hint", "9.9"]) == 1
    assert capsys.readouterr().err == (
        "kuiper hint: exercise: expected one of 1.1, 1.2, got '9.9'; kuiper progress lists all\n"
    )


def test_course_start_then_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["course", "start", "my course", "--no-git"]) == 0
    text = capsys.readouterr().out
    assert "my course: " in text
    assert "  cd 'my course'\n" in text
    assert "  pytest course1_tensor " in text
    assert not (tmp_path / "my course" / ".git").exists()
    assert main(["course", "start", "my course"]) == 1
    assert capsys.readouterr().err.startswith("kuiper course: my course: expected a folder outside of any course, got ")
    monkeypatch.chdir(tmp_path / "my course" / "notebooks")
    assert main(["progress", "1"]) == 0
    capsys.readouterr()
    exercise = tmp_path / "my course/course1_tensor/exercises/padding.py"
    exercise.write_text("my work")
    (tmp_path / "my course/course1_tensor/test_padding.py").unlink()
    assert main(["course", "update"]) == 0
    *changes, last = capsys.readouterr().out.splitlines()
    expected = ["kept     course1_tensor/exercises/padding.py", "restored course1_tensor/test_padding.py"]
    assert sorted(changes) == expected
    assert last.startswith(f"{tmp_path / 'my course'}: 1 files changed; ")
    assert exercise.read_text() == "my work"


def test_course_start_puts_the_folder_under_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kuiper.course.first_commit.first_commit", lambda folder, message: f"{folder.name}: {message}")
    assert main(["course", "start"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("kuiper-course: ")
    assert first.endswith(f"; kuiper-course: The course of kuiper {kuiper.__version__}")


def test_course_update_outside_of_a_course_folder_names_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["course", "update"]) == 1
    words = "expected a course folder, here or above, got none; kuiper course start writes one"
    assert capsys.readouterr().err == f"kuiper course: {tmp_path}: {words}\n"


def test_a_command_that_is_almost_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hints", "1.1"]) == 2
    assert capsys.readouterr().err == "kuiper: expected a command, got 'hints'; did you mean: kuiper hint\n"
    assert main(["xyzzy"]) == 2
    assert capsys.readouterr().err == "kuiper: expected a command, got 'xyzzy'; kuiper --help lists them\n"


def test_hint_of_one_function(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hint", "1.1", "double"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "what is twice?"
    assert main(["hint", "1.1", "treble"]) == 1
    words = "kuiper hint: hints of 1.1: expected a function of the exercise: double, got 'treble'\n"
    assert capsys.readouterr().err == words
    assert main(["hint"]) == 0
    assert capsys.readouterr().out.splitlines() == ["next: 1.1 double", "  kuiper hint 1.1 double   1 of 3 hints seen"]


def test_commands_know_1_1_from_1_10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    syllabus = made_up(tmp_path, second="1.10")
    assert main(["hint", "1.10", "fourfold"]) == 0
    assert capsys.readouterr().out.splitlines() == ["1.10 fourfold, hint 1 of 4", "how often?"]
    assert main(["hint", "1.1", "fourfold"]) == 1
    assert "a function of the exercise: double, got 'fourfold'" in capsys.readouterr().err
    solve(syllabus, "1.1")
    solve(syllabus, "1.10")
    assert main(["reset", "1.1"]) == 0
    capsys.readouterr()
    assert main(["progress", "--json"]) == 0
    entries = [(entry["id"], entry["status"]) for entry in json.loads(capsys.readouterr().out)]
    assert entries == [("1.1", "not started"), ("1.10", "started")]


def test_progress_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    assert main(["progress"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split()[0] for line in lines if line[:1].isdigit() and line[1:2] == "."]
    assert rows == [exercise.id for exercise in read_syllabus(root)]  # no row is broken in two
    assert "Winograd's convolution, F(2, 3)" in "\n".join(lines)


@pytest.mark.thorough
def test_course_bugs_renews_what_is_stored_of_chosen_exercises(
    syllabus: Syllabus, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = catches_file(syllabus.exercise("1.1"))
    assert main(["course", "bugs", "1.2"]) == 0
    assert stored_catches(syllabus.exercise("1.1")) == {}  # nothing is known of it
    assert main(["course", "bugs"]) == 0
    whole = stored.read_text()
    old = whole.replace('["test_double"]', '["test_of_old"]').replace('["test_fourfold"]', '["test_of_old"]')
    stored.write_text(old)
    assert main(["course", "bugs", "1.2"]) == 0
    assert stored.read_text() == old[: old.index('"1.2"')] + whole[whole.index('"1.2"') :]
    assert main(["course", "bugs", "1.1"]) == 0
    assert stored.read_text() == whole
    assert capsys.readouterr().out.splitlines()[-1] == f"wrote {stored}"
    assert main(["course", "bugs", "7.7"]) == 1
    assert main(["course", "bugs", "1.1", "--show"]) == 0
    assert "| tripled | three is taken for two | `test_double`" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("words", [[], ["--spot-check"]])
def test_course_gates_counts_the_exercises_that_pass(
    syllabus: Syllabus, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (syllabus.exercise("1.2").course / "README.md").write_text("return double(double(x))")
    assert main(["course", "gates", *words]) == 1
    assert capsys.readouterr().out == (
        "1.2 fourfold\n  course1_made_up/README.md has the solution's line: return double(double(x))\n"
        "1 of 2 exercises pass all gates\n"
    )


@pytest.mark.thorough
def test_course_bugs_leaves_what_is_stored_where_no_test_runs(
    syllabus: Syllabus, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = catches_file(syllabus.exercise("1.1"))
    stored.write_text("as it was")
    (syllabus.root / "course1_made_up" / "test_double.py").write_text("this is no Python\n")
    assert main(["course", "bugs"]) == 1
    assert stored.read_text() == "as it was"
    assert "bugs: expected tests that run, got" in capsys.readouterr().err
