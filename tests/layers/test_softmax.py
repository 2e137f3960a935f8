from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError, UnsupportedOperatorError
from kuiper.layers.operators.softmax import log_softmax, softmax
from kuiper.layers.reference import softmax as reference
from tests.layers.one_operator import layer, run

LN2, LN3 = math.log(2), math.log(3)


def test_softmax_is_each_share_of_the_whole() -> None:
    x = np.float32([[0, LN2, LN3], [5, 5, 5]])
    np.testing.assert_allclose(run("nn.Softmax", x, dim=1), [[1 / 6, 2 / 6, 3 / 6], [1 / 3] * 3], rtol=1e-6)
    np.testing.assert_allclose(run("F.softmax", x[:1], dim=-2), [[1, 1, 1]])


def test_log_softmax_is_the_logarithm_of_the_shares() -> None:
    x = np.float32([[0, LN2, LN3]])
    np.testing.assert_allclose(run("nn.LogSoftmax", x, dim=1), np.log([[1 / 6, 2 / 6, 3 / 6]]), rtol=1e-6)


def test_softmin_gives_the_smallest_the_largest_share() -> None:
    np.testing.assert_allclose(run("nn.Softmin", np.float32([0, LN3]), dim=0), [0.75, 0.25], rtol=1e-6)


def test_softmax2d_goes_over_the_channels() -> None:
    x = np.random.default_rng(2).standard_normal((2, 3, 4, 5), np.float32)
    np.testing.assert_array_equal(run("nn.Softmax2d", x), softmax(x, 1))
    np.testing.assert_array_equal(run("nn.Softmax2d", x[0]), softmax(x[0], 0))
    with pytest.raises(ShapeError, match=r"expected input \(n, c, h, w\) or \(c, h, w\), got \(4, 5\)"):
        run("nn.Softmax2d", x[0, 0])


@pytest.mark.parametrize(("rank", "dim"), [(1, 0), (2, 1), (3, 0), (4, 1), (5, 1)])
def test_softmax_without_dim_follows_torchs_old_rule(rank: int, dim: int) -> None:
    x = np.random.default_rng(rank).standard_normal((2, 3, 4, 2, 3)[:rank], np.float32)
    np.testing.assert_array_equal(run("nn.Softmax", x), softmax(x, dim))
    np.testing.assert_array_equal(run("F.log_softmax", x, dim=None), log_softmax(x, dim))


def test_softmax_of_huge_numbers_does_not_overflow() -> None:
    x = np.float32([3e38, 3e38, -3e38])
    assert softmax(x, 0).tolist() == [0.5, 0.5, 0.0]
    np.testing.assert_allclose(log_softmax(np.float32([1000, 0, -500]), 0), [0, -1000, -1500])


@pytest.mark.parametrize("inner", [1, 5])
@pytest.mark.parametrize("size", [3, 40])
def test_softmax_of_special_rows_is_as_in_torch(inner: int, size: int) -> None:
    nothing, nan, infinite, some = (np.zeros((1, size, inner), np.float32) for _ in range(4))
    nothing[:] = -np.inf
    nan[0, size - 1] = np.nan
    infinite[0, 1] = np.inf
    some[0, 0] = -np.inf
    assert np.isnan(softmax(nothing, 1)).all()
    assert np.isnan(softmax(nan, 1)).all()
    assert np.isnan(softmax(infinite, 1)).all()
    np.testing.assert_allclose(softmax(some, 1)[0, :, 0], [0, *[1 / (size - 1)] * (size - 1)], rtol=1e-6)
    np.testing.assert_array_equal(log_softmax(some, 1)[0, 0], np.full(inner, -np.inf))


@pytest.mark.parametrize("size", [1, 2, 7, 8, 13, 16, 17, 33, 100])
@pytest.mark.parametrize("inner", [1, 2, 7, 16, 63, 64, 65, 130])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_equals_its_reference(name: str, inner: int, size: int) -> None:
    x = np.random.default_rng(size).standard_normal((3, size, inner), np.float32) * 5
    y = {"softmax": softmax, "log_softmax": log_softmax}[name](x, 1)
    np.testing.assert_allclose(y, getattr(reference, name)(x.astype(np.float64)), rtol=2e-6, atol=1e-6)


def test_softmax_takes_views_scalars_and_empty_arrays() -> None:
    x = np.random.default_rng(4).standard_normal((4, 5, 6), np.float32)
    np.testing.assert_array_equal(softmax(x.transpose(2, 0, 1), 1), softmax(x, 0).transpose(2, 0, 1))
    assert softmax(np.array(7, np.float32), 0) == 1
    assert softmax(x[:0], 1).shape == (0, 5, 6)


def test_softmax_names_the_axes_it_could_take() -> None:
    with pytest.raises(ShapeError, match=r"nn.Softmax 'it': expected dim within -2..1, got 2"):
        run("nn.Softmax", np.zeros((2, 3), np.float32), dim=2)


def test_softmax_refuses_other_types() -> None:
    with pytest.raises(DataTypeError, match="expected float32 input, got int64"):
        run("nn.Softmax", np.arange(3, dtype=np.int64), dim=0)
    with pytest.raises(UnsupportedOperatorError, match=r"expected dtype=torch.float, got torch.double"):
        layer("F.softmax", dim=0, dtype="torch.double")


def test_softmax_flops_are_five_for_each_number() -> None:
    assert layer("nn.Softmax", dim=1).flops([(2, 3)], [(2, 3)]) == 30
