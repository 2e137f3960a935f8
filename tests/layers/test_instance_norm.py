from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import layer, run
from tests.layers.wired_operator import run_wired

X = np.float32([[[1, 3], [5, 5]], [[0, 4], [-9, -7]]])
NORMAL = [[[-1, 1], [0, 0]], [[-1, 1], [-1, 1]]]


def test_instance_norm_by_hand() -> None:
    np.testing.assert_allclose(run("nn.InstanceNorm1d", X, num_features=2, eps=1e-12), NORMAL, rtol=1e-6)
    weights = {"weight": np.float32([2, 3]), "bias": np.float32([10, 20])}
    y = layer("nn.InstanceNorm1d", weights, num_features=2, affine=True, eps=1e-12).forward(X)
    np.testing.assert_allclose(y, [[[8, 12], [20, 20]], [[8, 12], [17, 23]]], rtol=1e-6)


def test_instance_norm_with_running_statistics_is_a_batch_norm() -> None:
    weights = {"running_mean": np.float32([1, 5]), "running_var": np.float32([4, 1])}
    y = layer("nn.InstanceNorm1d", weights, num_features=2, track_running_stats=True, eps=0.0).forward(X)
    np.testing.assert_allclose(y, [[[0, 1], [0, 0]], [[-0.5, 1.5], [-14, -12]]], rtol=1e-6)


def test_instance_norm_takes_one_sample_without_a_batch_axis() -> None:
    np.testing.assert_allclose(run("nn.InstanceNorm1d", X[0], num_features=2, eps=1e-12), NORMAL[0], rtol=1e-6)
    with pytest.raises(ShapeError, match=r"expected input \(n, c, h, w\) or \(c, h, w\), got \(2, 2\)"):
        run("nn.InstanceNorm2d", X[0], num_features=2)


def test_instance_norm_as_a_function_needs_a_batch_axis() -> None:
    with pytest.raises(ShapeError, match=r"expected input \(n, c, ...\), got \(2, 2\)"):
        run("F.instance_norm", X[0])


def test_aten_instance_norm_takes_torchs_nine_arguments() -> None:
    statistics = (np.float32([1, 5]), np.float32([4, 1]))
    tracked = run("aten::instance_norm", X, None, None, *statistics, False, 0.1, 0.0, True)
    np.testing.assert_allclose(tracked, [[[0, 1], [0, 0]], [[-0.5, 1.5], [-14, -12]]], rtol=1e-6)
    own = run("aten::instance_norm", X, None, np.float32([7, 7]), *statistics, True, 0.1, 1e-12, True)
    np.testing.assert_allclose(own, np.add(NORMAL, 7), rtol=1e-6)


def test_instance_norm_does_without_operands_that_are_none() -> None:
    x = np.float32([[[1, 3], [5, 5]]])
    names = ("input", "running_mean", "running_var", "weight", "bias")
    plain = run_wired("F.instance_norm", x)
    np.testing.assert_array_equal(run_wired("F.instance_norm", x, None, None, None, None, names=names), plain)
    weight, bias = np.float32([2, 3]), np.float32([1, 1])
    scaled = run_wired("F.instance_norm", x, None, None, weight, bias, names=names)
    np.testing.assert_allclose(scaled, plain * weight[:, None] + 1, rtol=1e-6)
