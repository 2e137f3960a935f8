"""Exercise 3.10 counts what a student may hand in, and nothing else: its tests ask for the cases anew each time."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kuiper.course.testing import Mismatch

PATH = Path(__file__).parents[2] / "course3_layers" / "test_grouped_cases.py"
_spec = importlib.util.spec_from_file_location("grouped_cases_tests", PATH)
assert _spec is not None
assert _spec.loader is not None
tests = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tests)

Case = tuple[Any, ...]


class Answers:
    """An implementation whose ``cases()`` are these."""

    def __init__(self, found: list[Case]) -> None:
        self.found = found

    def cases(self) -> list[Case]:
        return self.found


def case(images: int, groups: int, depth: int, part: int, size: int) -> Case:
    """A right case with other numbers everywhere, which notices all that is broken."""
    numbers = np.random.default_rng(1)
    x = numbers.integers(1, 99, (images, groups * depth, size, size)).astype(np.float64)
    weight = numbers.integers(1, 99, (groups * part, depth, 1, 1)).astype(np.float64)
    bias = numbers.integers(1, 9999, groups * part).astype(np.float64)
    return (x, weight, bias, groups, tests.convolve((x, weight, bias, groups, None)))


SMALL, LARGE = case(2, 3, 2, 3, 1), case(2, 3, 2, 3, 5)
BLIND = (np.zeros((1, 2, 1, 1)), np.zeros((2, 1, 1, 1)), None, 2, np.zeros((1, 2, 1, 1)))


@pytest.mark.parametrize("name", tests.BROKEN)
def test_finds_out_that_counts_allowed_cases_only(name: str) -> None:
    tests.test_finds_out_that(Answers([BLIND] * 5 + [SMALL]), name)
    for found in ([LARGE] * 2, [BLIND] * 6 + [SMALL] * 2, [(*SMALL[:4], SMALL[4] + 1)]):
        with pytest.raises(Mismatch):
            tests.test_finds_out_that(Answers(found), name)
