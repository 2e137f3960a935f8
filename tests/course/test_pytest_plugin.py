"""The plugin as a student meets it: pytest in a process of its own, over the made-up course."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kuiper.course.places import python_environment
from kuiper.course.pytest_command import LEFT_OUT
from tests.course.made_up import made_up, solve
from tests.course.student_run import student_runs

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.manifest import Syllabus


@pytest.mark.thorough
def test_an_untouched_course_is_a_line_for_each_exercise(syllabus: Syllabus) -> None:
    code, text = student_runs(syllabus, "course1_made_up")
    assert code == 1
    assert text.count("1.1 double - not started: course1_made_up/exercises/double.py:11") == 1
    assert text.count("1.2 fourfold - blocked by 1.1; go on with --ref 1.1") == 1
    assert "0/2 solved, 0/5 points" in text
    assert "next: 1.1 double (5 minutes)" in text
    assert "Traceback" not in text


@pytest.mark.thorough
def test_nowhere_to_write_is_one_message(
    syllabus: Syllabus, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path_factory.mktemp("cache") / "file"
    taken.touch()
    (syllabus.root / ".kuiper").touch()  # no folder can be made there, even by root
    monkeypatch.setenv("KUIPER_CACHE", str(taken))
    code, text = student_runs(syllabus, "course1_made_up")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "expected a folder that can be written, or KUIPER_CACHE to name one, got none" in text
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text


@pytest.mark.thorough
def test_check_writes_no_cache_of_pytest_beside_the_courses(syllabus: Syllabus) -> None:
    command = [sys.executable, "-m", "kuiper", "check", "1.1"]
    done = subprocess.run(command, cwd=syllabus.root, env=python_environment(), capture_output=True, text=True)
    assert "1.1 double - not started" in done.stdout
    assert not list(syllabus.root.glob(".pytest_cache"))


@pytest.mark.thorough
def test_very_verbose_shows_the_trace(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 7"))
    _, text = student_runs(syllabus, "-vv", "course1_made_up/test_double.py")
    assert "calling(impl.double, 3).gives(6)" in text
    assert "FAILURES" in text


def test_solved_is_green_and_remembered(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    code, text = student_runs(syllabus, "--exercise", "1.1", "course1_made_up")
    assert code == 0, text
    assert "1/2 solved, 2/5 points" in text
    code, text = student_runs(syllabus, ".", cwd="course1_made_up")
    assert code == 1
    assert "1.2 fourfold - not started: exercises/fourfold.py:10" in text
    solve(syllabus, "1.2")
    code, text = student_runs(syllabus, ".", cwd="course1_made_up")
    assert code == 0, text
    assert "all exercises are solved" in text


@pytest.mark.thorough
def test_a_reference_lets_a_latecomer_go_on(syllabus: Syllabus) -> None:
    solve(syllabus, "1.2")
    for words in (["--ref", "1.1"], ["--use-solutions"]):
        code, text = student_runs(syllabus, *words, "--exercise", "1.2", "course1_made_up")
        assert code == 0, text
        assert "yours: 1.2; reference: 1.1" in text


@pytest.mark.thorough
def test_hint_levels(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 7"))
    assert "hint 3: multiply" in student_runs(syllabus, "--hint=3", "course1_made_up")[1]
    assert "kuiper hint 1.1 --level 4" in student_runs(syllabus, "--hint=4", "course1_made_up")[1]


@pytest.mark.thorough
def test_exercise_of_one_digit_leaves_out_one_of_two(tmp_path: Path) -> None:
    syllabus = made_up(tmp_path, second="1.10")
    solve(syllabus, "1.1")
    code, text = student_runs(syllabus, "--exercise", "1.1", "course1_made_up")
    assert code == 0, text
    assert "2 passed in" in text
    assert "next: 1.10 fourfold" in text
    code, text = student_runs(syllabus, "--exercise", "1.10", "course1_made_up")
    assert code == 1
    assert "1.10 fourfold - not started" in text
    assert "1 not started in" in text


def test_exercise_imports_no_tests_of_others_unless_they_are_named(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    other = syllabus.root / "course1_made_up" / "test_fourfold.py"
    other.write_text("raise ImportError('nobody asked for this')\n")
    code, text = student_runs(syllabus, "--exercise", "1.1", "course1_made_up")
    assert code == 0, text
    code, text = student_runs(syllabus, "--exercise", "1.1", "course1_made_up/test_fourfold.py")
    assert "nobody asked for this" in text


@pytest.mark.thorough
def test_an_unknown_exercise_is_a_usage_error(syllabus: Syllabus) -> None:
    code, text = student_runs(syllabus, "--exercise", "7.7", "course1_made_up")
    assert code == 4
    assert "expected one of 1.1, 1.2, got '7.7'" in text


def test_a_file_that_does_not_compile_leaves_the_others_alone(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    solve(syllabus, "1.2", ("def fourfold(x):", "def fourfold(x:"))
    code, text = student_runs(syllabus, "course1_made_up")
    assert code == 1
    assert "1/2 solved" in text
    assert "the file does not compile" in text
    assert "next: 1.2 fourfold (5 minutes), course1_made_up/exercises/fourfold.py:8\n" in text
    assert "a bracket is opened and not closed" in text
    assert "hint" not in text


def test_solutions_pass_and_leave_no_progress(syllabus: Syllabus) -> None:
    code, text = student_runs(syllabus, "--impl=solution", "course1_made_up")
    assert code == 0, text
    assert "solutions of 2 exercises: 2 passed" in text
    assert "0/2 solved" in student_runs(syllabus, "course1_made_up")[1]


@pytest.mark.thorough
def test_a_skip_is_not_green(syllabus: Syllabus) -> None:
    path = syllabus.root / "course1_made_up" / "test_double.py"
    path.write_text(
        path.read_text().replace("    calling(impl.double, 3).gives(6)", "    __import__('pytest').skip('no')")
    )
    solve(syllabus, "1.1")
    code, text = student_runs(syllabus, "--exercise", "1.1", "course1_made_up")
    assert code == 1
    assert "0/2 solved" in text


@pytest.mark.thorough
def test_workers_in_parallel(syllabus: Syllabus) -> None:
    pytest.importorskip("xdist")
    solve(syllabus, "1.1")
    code, text = student_runs(syllabus, "-n2", "course1_made_up")
    assert code == 1
    assert "1/2 solved" in text
    assert "1.2 fourfold - not started" in text


@pytest.mark.thorough
def test_a_class_without_solutions_has_its_tests_and_hints(syllabus: Syllabus) -> None:
    """No diagnosis then, but no failure of the classroom either."""
    solve(syllabus, "1.1", ("x * 2", "x*x"))
    for exercise in syllabus:
        exercise.solution_file.unlink()
    code, text = student_runs(syllabus, "course1_made_up")
    assert code == 1
    assert "    expected 6" in text
    assert "    hint 1: what is twice?" in text
    assert "likely" not in text
    assert "INTERNALERROR" not in text
    double = syllabus.exercise("1.1").student_file
    double.write_text(double.read_text().replace("x*x", "x + x"))
    code, text = student_runs(syllabus, "course1_made_up", "--exercise=1.1")
    assert code == 0


@pytest.mark.thorough
def test_a_moved_exercise_is_named(syllabus: Syllabus) -> None:
    file = syllabus.exercise("1.1").student_file
    file.rename(file.parent.parent / file.name)
    text = student_runs(syllabus, "course1_made_up")[1]
    assert "exercises/double.py is missing: move course1_made_up/double.py back, or kuiper course sync 1.1" in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--exercise=1.1", "course1_made_up", "-k", "fourfold"], "no test was selected: exercise 1.1 is tested by"),
        (["course1_made_up", "-k", "treble"], "no test of an exercise fits 'treble'"),
    ],
)
def test_an_empty_selection_is_a_sentence(syllabus: Syllabus, words: list[str], sentence: str) -> None:
    assert sentence in student_runs(syllabus, *words)[1]


@pytest.mark.thorough
def test_an_interrupted_run_says_what_it_keeps(syllabus: Syllabus) -> None:
    test = syllabus.root / "course1_made_up" / "test_double.py"
    test.write_text(test.read_text().replace("gives(-8)", "gives(-8)\n    raise KeyboardInterrupt"))
    solve(syllabus, "1.1")
    text = student_runs(syllabus, "course1_made_up", "--exercise", "1.1")[1]
    assert "interrupted: exercises whose tests have not all run keep the result they had" in text


@pytest.mark.thorough
def test_after_the_last_exercise_the_report_says_what_was_built(syllabus: Syllabus) -> None:
    path = syllabus.root / "course1_made_up" / "course.toml"
    words = '[afterwards]\nbuilt = "a doubler"\nengines = "shift bits"\ntry = ["treble", "half"]\n'
    words += 'race = "numbers"\nparts = ["1.1"]\n\n'
    first = '[[exercise]]\nid = "1.1"'
    path.write_text(path.read_text().replace(first, words + first))
    solve(syllabus, "1.1")
    assert "a doubler" not in student_runs(syllabus, "course1_made_up")[1]
    solve(syllabus, "1.2")
    text = student_runs(syllabus, "course1_made_up")[1]
    expected = ["course1_made_up is complete.", "You built: a doubler", "Run it: kuiper race numbers"]
    expected += ["Real engines: shift bits", "Things to try:", "  1. treble", "  2. half"]
    assert "\n".join(expected) in text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no terminals of this kind")
def test_a_call_that_takes_long_is_told_while_it_runs(syllabus: Syllabus) -> None:
    """pytest keeps what is printed meanwhile, by itself too. Nobody waits before a pipe."""
    patience = "from kuiper.course import patience\n\npatience.told_if_slow.__wrapped__.__defaults__ = (0.1,)\n"
    conftest = syllabus.root / "conftest.py"
    conftest.write_text(conftest.read_text() + patience)
    solve(syllabus, "1.1", ("result = x", "import time; time.sleep(0.7); result = x"))
    words = ["-q", "--exercise", "1.1", "-k", "negative", "--import-mode=importlib"]
    terminal, end = os.openpty()
    command = [sys.executable, "-m", "pytest", *LEFT_OUT, *words]
    environment = {**python_environment(), "COLUMNS": "80"}
    done = subprocess.run(command, cwd=syllabus.root, env=environment, stdout=end)
    report = os.read(terminal, 4096).decode()
    os.close(end)
    os.close(terminal)
    assert done.returncode == 0
    said = "test_double_negative runs; a call that takes 2 seconds counts as an endless loop"
    assert f"\n{said}\r\n" in f"\n{report}"
    assert " runs; " not in student_runs(syllabus, *words)[1]


def test_what_passes_is_one_line(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    report = student_runs(syllabus, "-q", "--exercise", "1.1")[1]
    assert "1.1 double - all 2 tests pass\n" in report
    assert "tests pass" not in student_runs(syllabus, "-q", "-k", "negative")[1]
    assert "tests pass" not in student_runs(syllabus, "-q")[1]  # 1.2 is to come
    solve(syllabus, "1.2")
    assert "all tests pass: 1.1 1.2\n" in student_runs(syllabus, "-q")[1]
