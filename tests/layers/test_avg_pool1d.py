import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import layer, run

X = np.float32([[3, 6, 0, 9, 6]])


def test_avg_pool1d_is_the_mean_of_each_window() -> None:
    np.testing.assert_array_equal(run("nn.AvgPool1d", X, kernel_size=[3], stride=[2]), [[3, 5]])


def test_avg_pool1d_counts_the_padding_or_not() -> None:
    settings = {"kernel_size": 2, "stride": 2, "padding": 1}
    np.testing.assert_array_equal(run("F.avg_pool1d", X, **settings), [[1.5, 3, 7.5]])
    np.testing.assert_array_equal(run("F.avg_pool1d", X, **settings, count_include_pad=False), [[3, 3, 7.5]])


def test_avg_pool1d_needs_a_sequence() -> None:
    with pytest.raises(ShapeError, match=r"^nn.AvgPool1d 'it': expected input of at least 1x6, got 1x5$"):
        run("nn.AvgPool1d", X, kernel_size=6)
    with pytest.raises(ShapeError, match=r"expected input \(n, c, w\) or \(c, w\), got \(5,\)$"):
        run("nn.AvgPool1d", X[0], kernel_size=2)


def test_avg_pool1d_flops_count_the_window() -> None:
    assert layer("nn.AvgPool1d", kernel_size=3).flops([(1, 2, 9)], [(1, 2, 3)]) == 6 * 3
