import numpy as np
import pytest

from kuiper.errors import ShapeError
from tests.layers.one_operator import layer, run

X = np.float32([[-5, -2, -9, -4, -3, -8, -1]])


def test_max_pool1d_of_negative_numbers() -> None:
    np.testing.assert_array_equal(run("nn.MaxPool1d", X, kernel_size=3, stride=2), [[-2, -3, -1]])
    np.testing.assert_array_equal(run("F.max_pool1d", X, kernel_size=[3]), [[-2, -3]])


def test_max_pool1d_padding_dilation_and_ceil_mode() -> None:
    out = run("nn.MaxPool1d", X, kernel_size=2, stride=3, padding=1, dilation=2, ceil_mode=True)
    np.testing.assert_array_equal(out, [[-2, -3, -8]])


def test_max_pool1d_indices_are_places_in_the_row() -> None:
    values, indices = run("nn.MaxPool1d", np.stack([X, -X]), kernel_size=3, stride=2, return_indices=True)
    np.testing.assert_array_equal(values, [[[-2, -3, -1]], [[9, 9, 8]]])
    np.testing.assert_array_equal(indices, [[[1, 4, 6]], [[2, 2, 5]]])


def test_max_pool1d_needs_a_sequence() -> None:
    with pytest.raises(
        ShapeError, match=r"^nn.MaxPool1d 'it': expected input \(n, c, w\) or \(c, w\), got \(1, 1, 1, 7\)$"
    ):
        run("nn.MaxPool1d", X[None, None], kernel_size=3)


def test_max_pool1d_flops_count_the_window() -> None:
    assert layer("nn.MaxPool1d", kernel_size=3).flops([(1, 2, 9)], [(1, 2, 3)]) == 6 * 3
