"""Wrong arrays as wrong loops make them, and the sentence that each gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.resemblance import resemblance

if TYPE_CHECKING:
    from collections.abc import Callable

RIGHT = np.array([[[1, -2.5, 3], [4, 5.25, -6], [7, 8, 9.5]], [[2, 11, 13], [0, 17, 19], [23, 29, 31]]], np.float32)


def first_image_only(x: np.ndarray) -> np.ndarray:
    out: np.ndarray = np.full_like(x, 99)
    out[0] = x[0]
    return out


def without_last_row(x: np.ndarray) -> np.ndarray:
    out: np.ndarray = x.copy()
    out[:, -1] = 5
    return out


def with_one_slip(x: np.ndarray) -> np.ndarray:
    out: np.ndarray = x.copy()
    out[1, 2, 2] = 5
    return out


def without_first_column(x: np.ndarray) -> np.ndarray:
    out: np.ndarray = x.copy()
    out[:, :, 0] = 5
    return out


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.zeros_like, "nothing is written into the result"),
        (first_image_only, "along axis 0 only index 0 is computed"),
        (lambda x: np.broadcast_to(x[:1], x.shape), "along axis 0 every index gets what belongs to index 0"),
        (lambda x: x[:, ::-1], "axis 1 is turned round"),
        (without_last_row, "along axis 1 only the last index is wrong"),
        (without_first_column, "along axis 2 only index 0 is wrong"),
        (lambda x: x.swapaxes(1, 2), "axes 1 and 2 are swapped"),
        (np.negative, "every sign is turned"),
        (np.abs, "negative numbers lose their sign"),
        (np.trunc, "behind the decimal point is cut off"),
        (np.floor, "behind the decimal point is cut off"),
        (lambda x: x + 3, "every number is +3 off"),
        (lambda x: x / 2, "every number is 0.5 times what it should be"),
        (lambda x: x + np.array([1, 5, 7], np.float32)[:, None], "each index of axis 1 is off by a number of its own"),
        (with_one_slip, ""),
        (lambda x: x * np.float32(1e-40), ""),
        (lambda x: x**2, ""),
        (lambda x: x[0], ""),
        (lambda x: x.tolist(), ""),
        (lambda x: x * np.nan, ""),
        (lambda x: x.astype(object), ""),
    ],
)
def test_resemblance(wrong: Callable[[np.ndarray], object], words: str) -> None:
    found = resemblance(wrong(RIGHT), RIGHT)
    assert words in found
    assert bool(words) == bool(found)


def test_resemblance_to_nested_lists() -> None:
    assert "turned round" in resemblance(np.array([3, 2, 1], np.float32), [1, 2, 3])


@pytest.mark.parametrize("expected", [[1, 1, 1], [1, 2], [[1, 2], [3]], (1, 2, 3), "abc", None, [0.0, np.inf, 1.0]])
def test_resemblance_to_what_tells_nothing(expected: object) -> None:
    """So few or such numbers look alike by chance."""
    assert resemblance(np.zeros(3), expected) == ""
    assert resemblance(np.zeros(2), expected) == ""
