from __future__ import annotations

import numpy as np

from tests.layers.one_operator import layer, run

X = np.float32([[1, 2, 3, 6], [5, 5, 5, 5]])


def test_var_divides_by_one_less_unless_told_otherwise() -> None:
    np.testing.assert_allclose(run("torch.var", X, dim=1), [14 / 3, 0], rtol=1e-6)
    np.testing.assert_allclose(run("torch.var", X, dim=1, unbiased=False), [3.5, 0], rtol=1e-6)
    np.testing.assert_allclose(run("torch.var", X, dim=1, correction=2), [7, 0], rtol=1e-6)


def test_std_is_the_root() -> None:
    np.testing.assert_allclose(run("torch.std", X, dim=[1], keepdim=True, unbiased=False), [[3.5**0.5], [0]], rtol=1e-6)


def test_var_of_one_number_is_nan() -> None:
    assert np.isnan(run("torch.var", X[:1], dim=0)).all()


def test_var_of_numbers_far_from_zero() -> None:
    np.testing.assert_allclose(run("torch.var", X[0] + np.float32(4096)), 14 / 3, rtol=1e-6)


def test_var_counts_three_operations_for_each_number() -> None:
    assert layer("torch.var").flops([(2, 4)], [()]) == 24
