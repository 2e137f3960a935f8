from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.layers.one_operator import run

X = np.float32([[3, -4], [0, 2]])


@pytest.mark.parametrize(
    ("p", "expected"),
    [(2, [5, 2]), ("fro", [5, 2]), (1, [7, 2]), ("inf", [4, 2]), ("-inf", [3, 0]), (0, [2, 1]), (None, [5, 2])],
)
def test_norm_of_each_row(p: Any, expected: list[float]) -> None:
    assert run("torch.norm", X, p=p, dim=[1]).tolist() == expected


def test_norm_of_the_whole_input() -> None:
    np.testing.assert_allclose(run("torch.norm", X, p=2, dim=None), 29**0.5, rtol=1e-6)


def test_norm_does_not_overflow_on_the_way() -> None:
    np.testing.assert_allclose(run("torch.norm", np.float32([3e30, 4e30])), 5e30, rtol=1e-6)
