from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import layer, run

X = np.float32([[3, -4], [0, 0]])


def test_normalize_divides_by_the_norm() -> None:
    np.testing.assert_allclose(run("F.normalize", X), [[0.6, -0.8], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(run("F.normalize", X, p=1, dim=-1), [[3 / 7, -4 / 7], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(run("F.normalize", X, p=math.inf, dim=1), [[0.75, -1], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(run("F.normalize", X, dim=0, eps=8.0), X / 8, rtol=1e-6)


def test_normalize_of_huge_numbers_does_not_overflow() -> None:
    np.testing.assert_allclose(run("F.normalize", np.float32([[3e30, 4e30]])), [[0.6, 0.8]], rtol=1e-6)


def test_normalize_names_the_axes_it_could_take() -> None:
    with pytest.raises(ShapeError, match=r"F.normalize 'it': expected dim within -1..0, got 1"):
        run("F.normalize", X[0])


def test_normalize_flops_are_three_for_each_number() -> None:
    assert layer("F.normalize").flops([(2, 3)], [(2, 3)]) == 18
