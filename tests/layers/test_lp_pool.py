from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError, UnsupportedOperatorError
from tests.layers.one_operator import layer, run


def test_lp_pool_is_the_length_of_each_window() -> None:
    x = np.float32([[[3, 4, 6, 8]]])
    np.testing.assert_allclose(run("F.lp_pool1d", x, norm_type=2, kernel_size=2), [[[5, 10]]])
    np.testing.assert_allclose(run("nn.LPPool1d", x, norm_type=1.0, kernel_size=2, stride=1), [[[7, 10, 14]]])
    np.testing.assert_allclose(run("F.lp_pool2d", x[None], norm_type=2, kernel_size=[1, 2]), [[[[5, 10]]]])


def test_lp_pool_lets_the_last_window_count_as_a_whole_one() -> None:
    x = np.float32([[[1, 1, 1]]])
    np.testing.assert_allclose(run("F.lp_pool1d", x, norm_type=1, kernel_size=2, ceil_mode=True), [[[2, 2]]])


def test_lp_pool_of_negative_sums_is_nan() -> None:
    assert np.isnan(run("F.lp_pool1d", np.float32([[[-1, -1]]]), norm_type=3, kernel_size=2)).all()


def test_lp_pool_refuses_what_torch_lacks() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"F.lp_pool2d 'it': expected padding 0, got \(1, 1\)"):
        layer("F.lp_pool2d", norm_type=2, kernel_size=2, padding=1)
    with pytest.raises(ShapeError, match=r"expected input of at least 3x3"):
        run("F.lp_pool2d", np.zeros((1, 2, 2), np.float32), norm_type=2, kernel_size=3)
