import numpy as np
import pytest

from kuiper.errors import ParameterError
from tests.layers.one_operator import layer, run

X = np.float32([[[-1, -2, -3, -4, -5], [-7, -6, -9, -8, -1], [-2, -4, -6, -8, -1]]])


def test_adaptive_max_pool2d_of_negative_numbers() -> None:
    np.testing.assert_array_equal(run("nn.AdaptiveMaxPool2d", X, output_size=2), [[[-1, -1], [-2, -1]]])


def test_adaptive_max_pool2d_indices_are_places_in_the_plane() -> None:
    values, indices = run("nn.AdaptiveMaxPool2d", X, output_size=[2, 2], return_indices=True)
    np.testing.assert_array_equal(values, [[[-1, -1], [-2, -1]]])
    np.testing.assert_array_equal(indices, [[[0, 9], [10, 9]]])
    assert indices.dtype == np.int64


def test_adaptive_max_pool2d_none_keeps_the_size() -> None:
    np.testing.assert_array_equal(run("F.adaptive_max_pool2d", X, output_size=[None, 1]), [[[-1], [-1], [-1]]])


def test_adaptive_max_pool2d_of_nan_takes_the_last_index() -> None:
    x = np.float32([[[1, np.nan, 3], [np.nan, 5, 6]]])
    values, indices = run("nn.AdaptiveMaxPool2d", x, output_size=1, return_indices=True)
    assert np.isnan(values)
    assert indices.tolist() == [[[3]]]


def test_adaptive_max_pool2d_of_an_empty_batch_is_empty() -> None:
    assert run("nn.AdaptiveMaxPool2d", np.zeros((0, 3, 5, 4), np.float32), output_size=2).shape == (0, 3, 2, 2)


def test_adaptive_max_pool2d_checks_the_output_size() -> None:
    with pytest.raises(ParameterError, match=r"^nn.AdaptiveMaxPool2d 'it': expected output_size=one or two numbers"):
        layer("nn.AdaptiveMaxPool2d", output_size=[2, -2])
