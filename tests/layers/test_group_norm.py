from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.layers.operators.group_norm import group_norm
from tests.layers.one_operator import layer, run


def test_group_norm_by_hand() -> None:
    x = np.float32([[[1, 3], [3, 1], [5, 5], [9, 9]]])  # group means 2 and 7, variances 1 and 4
    weights = {"weight": np.float32([1, 2, 3, 4]), "bias": np.float32([0, 10, 20, 30])}
    y = layer("nn.GroupNorm", weights, num_groups=2, num_channels=4, eps=0.0, affine=True).forward(x)
    np.testing.assert_allclose(y, [[[-1, 1], [12, 8], [17, 17], [34, 34]]], rtol=1e-6)


def test_group_norm_is_exact_far_from_zero() -> None:
    x = np.float32([[[10_000.25, 10_000.75], [10_000.5, 10_000.5]]])
    np.testing.assert_allclose(group_norm(x, 1, eps=0.0), [[[-np.sqrt(2), np.sqrt(2)], [0, 0]]], atol=1e-6)


def test_group_norm_takes_views_and_empty_batches() -> None:
    x = np.random.default_rng(2).standard_normal((3, 4, 6), np.float32)
    np.testing.assert_array_equal(group_norm(x.swapaxes(1, 2), 3), group_norm(x.swapaxes(1, 2).copy(), 3))
    assert group_norm(x[:0], 2).shape == (0, 4, 6)


def test_group_norm_names_the_shapes_that_do_not_fit() -> None:
    message = r"F.group_norm 'it': expected input \(n, c, ...\) with c a multiple of 4 groups, got \(2, 6, 3\)"
    with pytest.raises(ShapeError, match=message):
        run("F.group_norm", np.zeros((2, 6, 3), np.float32), num_groups=4)
    norm = layer("nn.GroupNorm", {"weight": np.ones(6), "bias": np.ones(6)}, num_groups=2, num_channels=6)
    with pytest.raises(ShapeError, match=r"expected weight of shape \(4,\), got \(6,\)"):
        norm.forward(np.zeros((2, 4, 3), np.float32))
