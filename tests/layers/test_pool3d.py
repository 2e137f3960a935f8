from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ParameterError, ShapeError
from tests.layers.one_operator import layer, run

X = np.random.default_rng(0).standard_normal((2, 3, 5, 6, 7), np.float32)


def windows(x: np.ndarray, kernel: int, stride: int) -> np.ndarray:
    """All windows without padding: (..., d, h, w, kernel, kernel, kernel)."""
    found = np.lib.stride_tricks.sliding_window_view(x, (kernel,) * 3, axis=(-3, -2, -1))
    return np.asarray(found[..., ::stride, ::stride, ::stride, :, :, :])


@pytest.mark.parametrize(("kernel", "stride"), [(2, 2), (3, 1), (1, 3)])
def test_pools_take_each_window(kernel: int, stride: int) -> None:
    expected = windows(X, kernel, stride)
    params = {"kernel_size": kernel, "stride": stride}
    np.testing.assert_array_equal(run("F.max_pool3d", X, **params), expected.max((-3, -2, -1)))
    np.testing.assert_allclose(run("F.avg_pool3d", X, **params), expected.mean((-3, -2, -1)), atol=1e-6)
    np.testing.assert_array_equal(run("nn.MaxPool3d", X[0], **params), expected[0].max((-3, -2, -1)))


def test_indices_point_at_the_maxima() -> None:
    params = {"kernel_size": [2, 3, 2], "stride": [1, 2, 3], "padding": [1, 1, 0], "return_indices": True}
    values, indices = run("F.max_pool3d", X, **params)
    np.testing.assert_array_equal(
        np.take_along_axis(X.reshape(2, 3, -1), indices.reshape(2, 3, -1), 2).reshape(values.shape), values
    )
    values, indices = run("F.adaptive_max_pool3d", X, output_size=[2, 3, 0], return_indices=True)
    np.testing.assert_array_equal(
        np.take_along_axis(X.reshape(2, 3, -1), indices.reshape(2, 3, -1), 2).reshape(values.shape), values
    )


def test_of_equal_maxima_the_first_counts_and_nan_wins() -> None:
    x = np.zeros((1, 2, 2, 2), np.float32)
    assert run("F.max_pool3d", x, kernel_size=2, return_indices=True)[1].item() == 0
    x[0, 1, 0, 1] = np.nan
    values, indices = run("F.max_pool3d", x, kernel_size=2, return_indices=True)
    assert np.isnan(values.item())
    assert indices.item() == 5
    assert np.isnan(run("F.max_pool3d", x, kernel_size=2).item())


def test_average_counts_padding_or_not() -> None:
    x = np.full((1, 1, 2, 2, 2), 8, np.float32)
    params = {"kernel_size": 2, "stride": 2, "padding": 1}
    assert run("F.avg_pool3d", x, **params).reshape(-1).tolist() == [1] * 8
    assert run("F.avg_pool3d", x, **params, count_include_pad=False).reshape(-1).tolist() == [8] * 8
    assert run("F.avg_pool3d", x, kernel_size=2, divisor_override=16).item() == 4


def test_adaptive_pools_share_out_the_volume() -> None:
    x = np.arange(5, dtype=np.float32).reshape(1, 5, 1, 1)
    assert run("F.adaptive_avg_pool3d", x, output_size=[2, 1, 1]).reshape(-1).tolist() == [1, 3]
    assert run("nn.AdaptiveMaxPool3d", x, output_size=[2, None, 0]).reshape(-1).tolist() == [2, 4]
    assert run("nn.AdaptiveAvgPool3d", X, output_size=[None, 2, 8]).shape == (2, 3, 5, 2, 8)
    np.testing.assert_allclose(
        run("F.adaptive_avg_pool3d", X, output_size=1)[..., 0, 0, 0], X.mean((2, 3, 4)), atol=1e-6
    )


@pytest.mark.parametrize("kind", ["F.max_pool3d", "F.avg_pool3d"])
def test_inputs_that_do_not_fit_are_refused(kind: str) -> None:
    with pytest.raises(ShapeError, match=rf"{kind} 'it': expected input \(n, c, d, h, w\) or \(c, d, h, w\)"):
        run(kind, X[0, 0], kernel_size=2)
    with pytest.raises(ShapeError, match=r"expected input of at least"):
        run(kind, X, kernel_size=[6, 1, 1])
    with pytest.raises(DataTypeError, match=r"expected float32 input, got float64"):
        run(kind, X.astype(np.float64), kernel_size=2)


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        (
            "F.max_pool3d",
            {"kernel_size": [2, 2]},
            r"kernel_size=one or three integers, got \(2, 2\)",
        ),
        ("F.max_pool3d", {"kernel_size": 2, "padding": 2}, r"padding of at most half the kernel"),
        ("F.avg_pool3d", {"kernel_size": 2, "divisor_override": 0}, r"a divisor_override other than 0, got 0"),
        ("F.adaptive_avg_pool3d", {"output_size": [2, 2]}, r"output_size=one or three numbers, None or 0"),
    ],
)
def test_settings_out_of_range_are_refused(kind: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        layer(kind, **params)


def test_flops_count_what_is_looked_at() -> None:
    assert layer("F.max_pool3d", kernel_size=[2, 1, 3]).flops([X.shape], [(1, 1, 2, 2, 2)]) == 48
    assert layer("F.avg_pool3d", kernel_size=2).flops([X.shape], [(1, 1, 1, 1, 2)]) == 16
    assert layer("F.adaptive_max_pool3d", output_size=2).flops([(1, 2, 3)], []) == 6
    assert layer("F.adaptive_avg_pool3d", output_size=2).flops([(1, 2, 3)], []) == 6


@pytest.mark.parametrize("axis", [2, 3, 4])
@pytest.mark.parametrize("kind", ["F.max_pool3d", "F.avg_pool3d", "F.adaptive_avg_pool3d", "F.adaptive_max_pool3d"])
def test_volumes_without_a_voxel_are_refused(kind: str, axis: int) -> None:
    shape = [2, 3, 4, 4, 4]
    shape[axis] = 0
    params = {"output_size": 1} if "adaptive" in kind else {"kernel_size": 1}
    with pytest.raises(ShapeError, match="with d, h and w >= 1"):
        run(kind, np.zeros(shape, np.float32), **params)
