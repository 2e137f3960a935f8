from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.course.comparison import difference

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
