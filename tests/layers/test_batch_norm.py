from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from kuiper.layers.operators.batch_norm import batch_norm
from tests.layers.one_operator import layer

STATISTICS = {"running_mean": np.float32([1, 3]), "running_var": np.float32([4, 9])}
AFFINE = {"weight": np.float32([2, 6]), "bias": np.float32([10, -1])}
X = np.float32([[3, 0], [-1, 6]])


def test_batch_norm_by_hand() -> None:
    y = layer("nn.BatchNorm1d", {**STATISTICS, **AFFINE}, num_features=2, eps=0.0, affine=True).forward(X)
    np.testing.assert_allclose(y, [[12, -7], [8, 5]], rtol=1e-6)


def test_batch_norm_without_affine_only_normalises() -> None:
    norm = layer("nn.BatchNorm1d", STATISTICS, num_features=2, eps=0.0, affine=False)
    np.testing.assert_allclose(norm.forward(X), [[1, -1], [-1, 1]], rtol=1e-6)


def test_batch_norm_adds_eps_to_the_variance() -> None:
    y = batch_norm(X, np.float32([0, 0]), np.float32([3, 8]), eps=1.0)
    np.testing.assert_allclose(y, [[1.5, 0], [-0.5, 2]], rtol=1e-6)


def test_batch_norm_without_statistics_uses_those_of_the_input() -> None:
    x = np.random.default_rng(5).standard_normal((4, 3, 5, 2), np.float32) * 3 + 100
    y = batch_norm(x, eps=0.0)
    np.testing.assert_allclose(y.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(y.var((0, 2, 3)), 1, rtol=1e-5)


@pytest.mark.parametrize(("type_name", "shape"), [("nn.BatchNorm1d", (2, 2, 3)), ("nn.BatchNorm2d", (2, 2, 3, 1))])
def test_batch_norm_treats_every_place_of_a_channel_alike(type_name: str, shape: tuple[int, ...]) -> None:
    x = np.arange(12, dtype=np.float32).reshape(shape)
    y = layer(type_name, {**STATISTICS, **AFFINE}, num_features=2, eps=0.0).forward(x)
    rows = np.moveaxis(x, 1, -1).reshape(6, 2)
    np.testing.assert_allclose(np.moveaxis(y, 1, -1).reshape(6, 2), (rows - [1, 3]) / [2, 3] * [2, 6] + [10, -1])


def test_batch_norm_takes_views_and_empty_batches() -> None:
    x = np.random.default_rng(6).standard_normal((3, 4, 5, 2), np.float32).transpose(0, 3, 1, 2)
    weights = (*STATISTICS.values(), *AFFINE.values())
    np.testing.assert_array_equal(batch_norm(x, *weights), batch_norm(x.copy(), *weights))
    assert batch_norm(x[:0], *weights).shape == (0, 2, 4, 5)


def test_batch_norm_names_the_shapes_that_do_not_fit() -> None:
    norm = layer("nn.BatchNorm2d", {**STATISTICS, **AFFINE}, num_features=2)
    with pytest.raises(ShapeError, match=r"expected running_mean of shape \(3,\) for input \(1, 3, 4, 4\), got \(2,\)"):
        norm.forward(np.zeros((1, 3, 4, 4), np.float32))
    with pytest.raises(ShapeError, match=r"nn.BatchNorm2d 'it': expected input \(n, c, h, w\), got \(3, 4\)"):
        norm.forward(np.zeros((3, 4), np.float32))
    with pytest.raises(ShapeError, match=r"'it': expected running_mean of shape \(5,\), got \(2,\)"):
        layer("nn.BatchNorm2d", {**STATISTICS, **AFFINE}, num_features=5)


def test_batch_norm_needs_its_weights() -> None:
    with pytest.raises(ParameterError, match="expected a weight 'weight', got weights: running_mean, running_var"):
        layer("nn.BatchNorm2d", STATISTICS, num_features=2, affine=True)


def test_batch_norm_refuses_other_types() -> None:
    with pytest.raises(DataTypeError, match="expected float32 input, got float64"):
        batch_norm(X.astype(np.float64), *STATISTICS.values())


def test_batch_norm_flops_are_one_multiply_add_for_each_number() -> None:
    norm = layer("nn.BatchNorm1d", {**STATISTICS, **AFFINE}, num_features=2)
    assert norm.flops([(5, 2)], [(5, 2)]) == 20
