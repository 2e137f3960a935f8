"""Every gate must be able to fail: the made-up course is broken in one way after another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from kuiper.course import gate_runs, gates
from kuiper.course.bugs import patched, read_bugs
from kuiper.course.classroom import Outcome
from kuiper.course.errors import CourseError
from kuiper.course.manifest import Exercise, Syllabus, read_syllabus
from tests.course.made_up import edit, solve

if TYPE_CHECKING:
    from pathlib import Path


def manifest(exercise: Exercise) -> Path:
    return exercise.course / "course.toml"


def test_runs_tell_what_is_wrong(syllabus: Syllabus) -> None:
    """One run for all the gates that need one."""
    double, fourfold = syllabus
    edit(double.course / "test_double.py", "gives(-8)", "gives(8)")
    edit(fourfold.course / "test_fourfold.py", "gives(12)", "gives(12)\n\n\ndef test_nothing(impl):\n    assert True")
    edit(double.bugs_file, 'with = "x * 3"', 'with = "2 * x"')
    edit(double.bugs_file, 'replace = "x * 2"\nwith = "x * x"', 'replace = "y * 2"\nwith = "x * x"')
    edit(manifest(double), 'depends_on = ["1.1"]', "")
    syllabus = read_syllabus(syllabus.root)
    double, fourfold = syllabus
    runs = gate_runs.run_all(syllabus, list(syllabus))
    assert ["test_double_negative is wrong" in line for line in gates.solution_passes(double, runs)] == [True]
    undeclared, count = gates.solution_passes(fourfold, runs)
    assert "test_fourfold is blocked" in undeclared
    assert "2 tests ran, test_count is 1" in count
    (toothless,) = gates.skeleton_fails(fourfold, runs)
    assert "test_nothing is passed on the skeleton" in toothless
    assert gates.skeleton_fails(double, runs) == []
    uncaught = gates.bugs_are_caught(double, runs)
    assert "bug tripled passes all tests" in uncaught
    assert any(
        "bug squared: expected text that occurs exactly once in the solution, got 0 times" in line for line in uncaught
    )


def test_a_sound_course_passes_all_gates_in_one_session_and_in_many(
    syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUIPER_FRESH", "1")
    together = gate_runs.run_all(syllabus, list(syllabus))
    assert gates.problems_of(syllabus, list(syllabus), together) == {}
    monkeypatch.setattr(gate_runs, "EXERCISES", 1)
    assert gate_runs.run_all(syllabus, list(syllabus)) == together
    assert {id_ for id_, *_ in together.alone.catches} == {"1.1", "1.2"}


def test_run_all_begins_no_session_after_ctrl_c(syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, ...]] = []

    def interrupted(exercises: list[Exercise], *words: str) -> gate_runs.Run:
        begun.append(words)
        if len(begun) == 1:
            raise KeyboardInterrupt
        time.sleep(1.0)  # while this one runs, the others are called off
        return gate_runs.Run(())

    monkeypatch.setattr(gate_runs, "EXERCISES", 1)
    monkeypatch.setattr(gate_runs, "SESSIONS", 1)
    monkeypatch.setattr(gate_runs, "run_tests", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gate_runs.run_all(syllabus, list(syllabus))
    assert len(begun) < 4


def test_run_all_says_why_a_session_ran_no_test(syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    run_tests = gate_runs.run_tests
    nothing = gate_runs.Run(())  # of the skeletons, which nothing here looks at
    monkeypatch.setattr(gate_runs, "EXERCISES", 1)
    monkeypatch.setattr(
        gate_runs, "run_tests", lambda some, impl, *bugs: run_tests(some, impl, *bugs) if impl == "alone" else nothing
    )
    double, fourfold = syllabus
    edit(double.course / "test_double.py", "def test_double(", "def test double(")
    runs = gate_runs.run_all(syllabus, list(syllabus))
    [problem] = gates.solution_passes(double, runs)
    assert "0 tests ran" in problem
    assert "error" in problem
    assert gates.solution_passes(fourfold, runs) == []


def test_a_skipped_test_is_no_pass(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    edit(
        double.course / "test_double.py",
        "    calling(impl.double, 3).gives(6)",
        "    __import__('pytest').skip('later')",
    )
    problems = gates.solution_passes(double, gate_runs.Runs(gate_runs.run_tests([double], "alone")))
    assert ["test_double is skipped" in line for line in problems] == [True]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("points = 2", "points = 0", "points is 0"),
        ('"what is twice?", "see the lecture", "multiply"', '"no"', "1 hints for double, expected at least 3"),
        ('tests = ["test_double.py"]', 'tests = ["test_other.py"]', "there is no test_other.py"),
        ('symbols = ["double"]', "symbols = []", "symbols and tests must not be empty"),
        (
            "minutes = 5\ntimeout = 2.0\nhints",
            'minutes = 5\ndepends_on = ["1.2"]\nhints',
            "depends on 1.2, which does not come before",
        ),
    ],
)
def test_an_incomplete_manifest(syllabus: Syllabus, before: str, after: str, words: str) -> None:
    edit(manifest(syllabus.exercise("1.1")), before, after)
    syllabus = read_syllabus(syllabus.root)
    assert any(words in line for line in gates.manifest_is_complete(syllabus, syllabus.exercise("1.1")))


def test_too_few_bugs(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    double.bugs_file.write_text(double.bugs_file.read_text().split('[[bug]]\nname = "minus"')[0])
    assert gates.manifest_is_complete(syllabus, double) == ["4 bugs, expected at least 5"]


def test_a_symbol_that_is_not_there(syllabus: Syllabus) -> None:
    edit(manifest(syllabus.exercise("1.1")), 'symbols = ["double"]', 'symbols = ["treble"]')
    double = read_syllabus(syllabus.root).exercise("1.1")
    assert gates.symbols_are_defined(double) == ["symbol treble is not in double.py"]


def test_functions_have_hints_says_which_has_none(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    assert gates.functions_have_hints(double) == []
    edit(manifest(double), 'for = "double"', 'for = "treble"')
    assert gates.functions_have_hints(read_syllabus(syllabus.root).exercise("1.1")) == [
        "there are no hints for double",
        "there are hints for treble, which is not to be written",
    ]


TWO = """
def double(x):
    # BEGIN SOLUTION
    return helper(x) * 2 + 0
    # END SOLUTION


def half(x):
    # BEGIN SOLUTION
    return x / 2 - 0
    # END SOLUTION


# BEGIN SOLUTION
def helper(x):
    return x + 0
# END SOLUTION
"""


@pytest.mark.parametrize(
    ("before", "after", "test", "function", "bug", "problems"),
    [
        ("x / 2", "x / 3", "test_half", "half", "", []),
        ("x / 2", "x / 3", "test_double", "double", "", ["bug b is in half; hint about double (test_double)"]),
        ("x / 2", "x / 3", "test_double", "double", 'seen_in = "double"\nbecause = "of the order"', []),
        (
            "x / 2",
            "x / 3",
            "test_half",
            "half",
            'seen_in = "double"\nbecause = "of the order"',
            ["bug b is seen in half (test_half), its seen_in says double"],
        ),
        (
            "x / 2",
            "x / 3",
            "test_half",
            "half",
            'seen_in = "half"\nbecause = "of the order"',
            ["bug b needs no seen_in: the hint is about half, which holds it"],
        ),
        ("x + 0", "x + 1", "test_half", "half", "", []),  # in a helper that has no hints of its own
        ("x / 2", "x / 3", "test_rest", "half", "", ["test_rest begins with no function's name"]),
    ],
)
def test_hints_fit_tells_a_hint_about_another_function(
    syllabus: Syllabus, before: str, after: str, test: str, function: str, bug: str, problems: list[str]
) -> None:
    double = syllabus.exercise("1.1")
    edit(manifest(double), 'hints = [{ for = "double"', 'hints = [{ for = "half", ladder = ["?"] }, { for = "double"')
    double = read_syllabus(syllabus.root).exercise("1.1")
    double.solution_file.write_text(TWO)
    double.bugs_file.write_text(f'[[bug]]\nname = "b"\nwhen = "b"\nreplace = "{before}"\nwith = "{after}"\n{bug}\n')
    outcomes = (Outcome("1.1", test, "passed"),)
    runs = gate_runs.Runs(gate_runs.Run(outcomes, (("1.1", "b", test, function), ("1.1", "b", "test_later", "double"))))
    assert gates.hints_fit(double, runs) == problems


def test_hints_fit_tells_a_first_hint_that_is_about_no_test(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    edit(manifest(double), 'hints = [{ for = "double"', 'hints = [{ first = ["double_of", "dou"], for = "double"')
    double = read_syllabus(syllabus.root).exercise("1.1")
    runs = gate_runs.Runs(gate_runs.Run((Outcome("1.1", "test_double", "passed"),), ()))
    assert gates.hints_fit(double, runs) == [
        "no test begins with double_of, which the first hint for double is to be about"
    ]


def test_a_stale_skeleton(syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch) -> None:
    double = syllabus.exercise("1.1")
    monkeypatch.delenv("CI", raising=False)
    solve(syllabus, "1.1")
    assert gates.skeleton_is_in_sync(double) == []
    monkeypatch.setenv("CI", "true")
    assert gates.skeleton_is_in_sync(double) == ["exercises/double.py is changed; run: kuiper course sync"]
    double.student_file.unlink()
    assert gates.skeleton_is_in_sync(double) == ["exercises/double.py is missing; run: kuiper course sync"]


def test_a_leak(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    assert gates.nothing_leaks(double, []) == []
    leaks = gates.nothing_leaks(double, [("README.md", "try result = x * 2 + 0")])
    assert leaks == ["README.md has the solution's line: result = x * 2 + 0"]
    edit(double.solution_file, "Twice x.", "result = x * 2 + 0")
    assert gates.nothing_leaks(double, []) == ["its skeleton has the solution's line: result = x * 2 + 0"]


def test_a_false_example(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    edit(double.solution_file, "    6\n", "    7\n")
    (problem,) = gates.examples_hold(syllabus, double)
    assert "the example of double does not hold" in problem


def test_patched_replaces_once_only(syllabus: Syllabus) -> None:
    bug = read_bugs(syllabus.exercise("1.1"))[0]
    assert patched("a = x * 2", bug, "here") == "a = x * 3"
    with pytest.raises(
        CourseError, match="here bug tripled: expected text that occurs exactly once in the solution, got 2 times"
    ):
        patched("x * 2, x * 2", bug, "here")
