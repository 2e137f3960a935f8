from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers import create
from kuiper.layers.operators.layer_norm import layer_norm
from tests.layers.one_operator import layer, operator, run


def test_layer_norm_by_hand() -> None:
    x = np.float32([[1, 3, 1, 3], [5, 5, 5, 5]])  # variance 1 and 0
    weights = {"weight": np.float32([1, 2, 3, 4]), "bias": np.float32([0, 0, 10, 10])}
    y = layer("nn.LayerNorm", weights, normalized_shape=[4], eps=3.0).forward(x)
    np.testing.assert_allclose(y, [[-0.5, 1, 8.5, 12], [0, 0, 10, 10]], rtol=1e-6)


def test_layer_norm_finds_a_mean_that_no_float_is() -> None:
    x = np.float32([[2**23, 2**23 + 1, 2**23 + 1]])  # deviations -2/3, 1/3, 1/3; the variance is 2/9
    y = layer_norm(x, (3,), eps=0.0)
    np.testing.assert_allclose(y, [[-(2**0.5), 0.5**0.5, 0.5**0.5]], rtol=1e-6)


def test_layer_norm_over_several_axes_is_one_over_all_of_them() -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 5), np.float32)
    np.testing.assert_array_equal(
        run("F.layer_norm", x, normalized_shape=(4, 5)), layer_norm(x.reshape(6, 20), (20,)).reshape(x.shape)
    )


def test_layer_norm_without_bias_or_without_both() -> None:
    x = np.float32([[1, 3]])
    only_weight = layer(
        "nn.LayerNorm", {"weight": np.float32([2, 4])}, normalized_shape=2, eps=0.0, elementwise_affine=True, bias=False
    )
    assert only_weight.forward(x).tolist() == [[-2, 4]]
    assert run("nn.LayerNorm", x, normalized_shape=2, eps=0.0, elementwise_affine=False).tolist() == [[-1, 1]]


def test_layer_norm_tells_its_operands_by_their_names() -> None:
    bare = operator("F.layer_norm", normalized_shape=(2,), eps=0.0, weight=None)
    op = replace(bare, inputs=bare.inputs * 2, input_names=["input", "bias"])
    assert create(op).forward(np.float32([[1, 3]]), np.float32([10, 20])).tolist() == [[9, 21]]
    unnamed = replace(bare, inputs=bare.inputs * 2, input_names=["", ""])
    assert create(unnamed).forward(np.float32([[1, 3]]), np.float32([10, 20])).tolist() == [[-10, 20]]


def test_layer_norm_is_exact_far_from_zero() -> None:
    x = np.float32([[10_000.25, 10_000.5, 10_000.75, 10_000.5]])
    np.testing.assert_allclose(layer_norm(x, (4,), eps=0.0), [[-np.sqrt(2), 0, np.sqrt(2), 0]], atol=1e-6)


def test_layer_norm_spreads_nan_within_its_row_only() -> None:
    x = np.float32([[1, np.nan], [1, 3]])
    np.testing.assert_array_equal(np.isnan(layer_norm(x, (2,))), [[True, True], [False, False]])


def test_layer_norm_takes_views_and_empty_batches() -> None:
    x = np.random.default_rng(2).standard_normal((3, 4, 5), np.float32)
    np.testing.assert_array_equal(layer_norm(x.T, (3,)), layer_norm(x.T.copy(), (3,)))
    assert layer_norm(x[:0], (4, 5)).shape == (0, 4, 5)


def test_layer_norm_names_the_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"F.layer_norm 'it': expected input \(..., 4, 5\), got \(2, 4, 6\)"):
        run("F.layer_norm", np.zeros((2, 4, 6), np.float32), normalized_shape=(4, 5))
    with pytest.raises(ShapeError, match=r"expected input \(..., 2, 3\), got \(3,\)"):
        run("F.layer_norm", np.zeros(3, np.float32), normalized_shape=(2, 3))
    with pytest.raises(ShapeError, match=r"expected weight of shape \(4,\), got \(5,\)"):
        layer("nn.LayerNorm", {"weight": np.zeros(5), "bias": np.zeros(4)}, normalized_shape=4)
    with pytest.raises(ShapeError, match=r"layer_norm: expected bias of shape \(2,\), got \(1,\)"):
        layer_norm(np.zeros((1, 2), np.float32), (2,), bias=np.float32([1]))


def test_layer_norm_refuses_a_normalized_shape_without_axes() -> None:
    with pytest.raises(ParameterError, match=r"expected a normalized_shape of at least one axis, got \(\)"):
        run("F.layer_norm", np.zeros(3, np.float32), normalized_shape=[])


def test_layer_norm_needs_its_weights() -> None:
    with pytest.raises(ParameterError, match=r"nn.LayerNorm 'it': expected a weight 'bias', got weights: weight"):
        layer("nn.LayerNorm", {"weight": np.zeros(4)}, normalized_shape=4)


def test_layer_norm_flops_count_both_passes() -> None:
    assert layer("F.layer_norm", normalized_shape=4).flops([(2, 4)], [(2, 4)]) == 64
