"""Which tests a mistake in a function may fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from kuiper.course.manifest import read_syllabus
from kuiper.course.telling_tests import telling

EXERCISE = read_syllabus(Path(__file__).parents[2]).exercise("5.1")


def told_by(function: str, *names: str) -> list[str]:
    tests = [SimpleNamespace(body=SimpleNamespace(__name__=f"test_{name}")) for name in names]
    return [test.body.__name__.removeprefix("test_") for test in telling(EXERCISE, function, tests)]


def test_telling_leaves_out_tests_of_functions_that_have_nothing_to_do_with_it() -> None:
    assert told_by("normalise", "neighbours_of_one_pixel", "resize_a_row", "centre_crop") == []


def test_telling_takes_the_own_tests_first_and_those_of_callers_and_called() -> None:
    names = ("neighbours_of_one_pixel", "resize_a_row", "resize_both_ways", "preprocess_of_a_square")
    assert told_by("resize", *names)[:2] == ["resize_both_ways", "resize_a_row"]
    assert set(told_by("resize", *names)) == set(names)
