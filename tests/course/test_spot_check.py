"""Which bugs a spot check tries, on which tests, and what is stored and shown of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.course import gate_runs, gates
from kuiper.course import spot_check as spot_checks
from kuiper.course.bug_table import bug_table
from kuiper.course.bugs import read_bugs
from kuiper.course.catches import catches_file, store_catches, stored_catches
from kuiper.course.errors import CourseError
from kuiper.course.spot_check import first_tests, spot_check
from tests.course.made_up import edit

if TYPE_CHECKING:
    from kuiper.course.manifest import Exercise, Syllabus


def test_spot_check_tries_each_bug_on_the_test_that_the_page_names(
    syllabus: Syllabus, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = {"tripled": "test_double_negative", "sign": "test_double_negative"}
    catches = [
        ("1.1", bug.name, tests.get(bug.name, "test_double"), "double") for bug in read_bugs(syllabus.exercise("1.1"))
    ]
    catches += [("1.2", bug.name, "test_fourfold", "fourfold") for bug in read_bugs(syllabus.exercise("1.2"))]
    store(syllabus, catches)
    monkeypatch.setattr(spot_checks, "run_all", not_called)
    runs = spot_check(syllabus, list(syllabus))
    assert sorted(runs.alone.catches) == sorted(catches)
    assert gates.problems_of(syllabus, list(syllabus), runs) == {}


@pytest.mark.parametrize("test", ["test_double", "test_of_long_ago"])
def test_spot_check_runs_all_where_the_page_does_not_help(
    syllabus: Syllabus, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUIPER_FRESH", "1")
    store(syllabus, [("1.1", "tripled", test, "double")])  # and says nothing of the others
    runs = spot_check(syllabus, list(syllabus))
    assert sorted(runs.alone.catches) == sorted(gate_runs.run_all(syllabus, list(syllabus)).alone.catches)
    assert gates.problems_of(syllabus, list(syllabus), runs) == {}


def test_spot_check_tells_of_a_bug_that_nothing_catches(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    store(syllabus, [("1.1", bug.name, "test_double", "double") for bug in read_bugs(double)])
    edit(double.bugs_file, 'with = "x * 3"', 'with = "2 * x"')
    problems = gates.problems_of(syllabus, [double], spot_check(syllabus, [double]))
    assert problems == {double.label: ["bug tripled passes all tests"]}


def test_spot_check_leaves_it_to_the_gates_to_tell_of_bugs_that_cannot_be_read(syllabus: Syllabus) -> None:
    double = syllabus.exercise("1.1")
    double.bugs_file.write_text('[[bug]]\nname = "tripled"\n')
    problems = gates.problems_of(syllabus, [double], spot_check(syllabus, [double]))
    assert "expected a name, and what students did, as 'when'" in problems[double.label][0]


def store(syllabus: Syllabus, catches: list[tuple[str, str, str, str]]) -> None:
    store_catches(syllabus, list(syllabus), gate_runs.Run((), tuple(catches)))


def not_called(syllabus: Syllabus, exercises: list[Exercise]) -> gate_runs.Runs:
    assert not exercises
    return gate_runs.Runs(gate_runs.Run(()))


def test_store_catches_keeps_what_is_known_of_the_others(syllabus: Syllabus) -> None:
    double, fourfold = syllabus
    store(syllabus, [("1.1", "tripled", "test_of_long_ago", "double")])
    run = gate_runs.Run((), (("1.2", "once", "test_fourfold", "fourfold"),))
    assert store_catches(syllabus, [fourfold], run) == [catches_file(double)]
    assert stored_catches(double)["tripled"].tests == ("test_of_long_ago",)
    assert stored_catches(fourfold)["once"] == (("test_fourfold",), 0)


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"1.1": {"tripled": 3}}'])
def test_stored_catches_says_what_is_wrong_and_a_spot_check_goes_on(syllabus: Syllabus, text: str) -> None:
    double = syllabus.exercise("1.1")
    catches_file(double).write_text(text)
    with pytest.raises(CourseError, match=r"catches.json: expected what kuiper course bugs wrote, got"):
        stored_catches(double)
    assert first_tests(double) == {}


def test_bug_table_names_who_catches_whom(syllabus: Syllabus) -> None:
    store(syllabus, [("1.1", "tripled", f"test_{i}", "double") for i in range(5)])
    page = bug_table(list(syllabus))
    assert "| tripled | three is taken for two | `test_0`, `test_1`, `test_2` and 2 more |" in page
    assert "| squared | x is squared | **nothing** |" in page
    assert "10 bugs." in page
