from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.course.comparison import difference
from kuiper.course.testing import Mismatch, same

ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (5, 5),
        (5, 5.0),
        (np.float32(2), 2.0),
        (float("nan"), float("nan")),
        ((1, "a", None), (1, "a", None)),
        ({"a": [1]}, {"a": [1]}),
        (ONES, [[1, 1, 1], [1, 1, 1]]),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
    ],
)
def test_equal_values(got: Any, expected: Any) -> None:
    assert difference(got, expected) is None


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (5.0, 5, "float where int"),
        (True, 1, "bool where int"),
        ([1, 2], (1, 2), "list where tuple"),
        ((1,), (1, 2), "length 1"),
        (None, 0, "NoneType where int"),
        ({"a": 1}, {"b": 1}, "other keys"),
        ({"a": 1}, {"a": 2}, "at key 'a'"),
        (ONES, ONES.astype(np.float64), "dtype float32 where float64"),
        (ONES, ONES.T, "shape (2, 3) where (3, 2)"),
        (ONES, 2 * ONES, "6 of 6 values differ"),
        ([1.0, 1.0], np.ones(2), "list where an array"),
        (np.array([0.0]), [np.nan], "1 of 1"),
        (np.array([np.inf]), [1.0], "1 of 1"),
    ],
)
def test_different_values(got: Any, expected: Any, words: str) -> None:
    assert words in (difference(got, expected) or "")


def test_tolerance_is_relative_to_the_largest() -> None:
    expected = [1000.0, 0.0]
    assert difference(np.array([1000.0, 0.5]), expected, 1e-3) is None
    assert difference(np.array([1000.0, 1.5]), expected, 1e-3)
    assert difference(np.array([np.nan, 0.0]), expected, 1e-3)


@pytest.mark.parametrize(
    ("got", "expected", "lines"),
    [
        ([(1, 2), (3, 4)], [(1, 2), (3, 5)], ["expected [(1, 2), (3, 5)]", "got      [(1, 2), (3, 4)]"]),
        (
            [("conv", n, (n, 2 * n)) for n in range(9)],
            [("conv", n, (n, 3 * n)) for n in range(9)],
            [
                "the first difference is at element 1, in it element 2, in it element 1",
                "  (counted from 0)",
                "expected ('conv', 1, (1, 3))",
                "got      ('conv', 1, (1, 2))",
            ],
        ),
        (
            ["operator"] * 9,
            ["operator"] * 8 + ["output"],
            ["the first difference is at element 8 (counted from 0)", "expected 'output'", "got      'operator'"],
        ),
        (
            ["operator"] * 8,
            ["operator"] * 9,
            [
                "the first difference is at element 8 (counted from 0)",
                "expected 'operator'",
                "got      nothing",
                "(length 8 where 9 is expected)",
            ],
        ),
        (
            {"names": ["operator"] * 9, "count": 9},
            {"names": ["operator"] * 9, "count": 8},
            ["the first difference is at key 'count'", "expected 8", "got      9"],
        ),
        (
            (np.zeros(20), [1.0] * 30),
            (np.zeros(20), [1.0 + 1e-9] * 29 + [2.0]),
            ["the first difference is at element 1, in it element 29 (counted from 0)", "expected 2", "got      1"],
        ),
    ],
)
def test_same_shows_the_first_element_that_differs(got: object, expected: object, lines: list[str]) -> None:
    with pytest.raises(Mismatch) as caught:
        same("it", got, expected, tolerance=1e-6)
    assert [line.replace("2.0", "2").replace("1.0", "1") for line in caught.value.lines()] == ["it", *lines]


def test_a_report_marks_what_the_tolerance_does_not_allow_and_shows_its_plane() -> None:
    expected = np.float32([[[7, 7]], [[5, 5]]])
    got = np.float32([[[6.999999, 7]], [[5, 8]]])
    mismatch = Mismatch(["f()"], expected, got, "1 of 4 values differ", tolerance=1e-6)
    assert mismatch.lines()[-2:] == ["expected[1]    got[1], wrong: [ ]", " 5  5           5 [8]"]
