from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.operators.prelu import prelu
from tests.layers.one_operator import layer, run


def test_prelu_has_a_slope_for_each_channel() -> None:
    x = np.float32([[[-2, 4], [-2, 4]], [[-4, -6], [0, -1]]])
    y = layer("nn.PReLU", {"weight": np.float32([0.5, -3])}, num_parameters=2).forward(x)
    assert y.tolist() == [[[-1, 4], [6, 4]], [[-2, -3], [0, 3]]]


def test_prelu_with_one_slope_takes_any_number_of_axes() -> None:
    one = layer("nn.PReLU", {"weight": np.float32([0.5])}, num_parameters=1)
    assert one.forward(np.float32([-2, 3])).tolist() == [-1, 3]
    assert one.forward(np.float32([[[[-2, 3]]]])).tolist() == [[[[-1, 3]]]]


def test_prelu_function_takes_its_weight_as_second_input() -> None:
    y = run("F.prelu", np.float32([[-2, -2], [3, -4]]), np.float32([0.5, 2]))
    assert y.tolist() == [[-1, -4], [3, -8]]


def test_prelu_of_nan_is_nan() -> None:
    assert np.isnan(prelu(np.full((1, 2, 3), np.nan, np.float32), np.float32([0, 1]))).all()


def test_prelu_names_the_channels_that_its_weight_misses() -> None:
    with pytest.raises(ShapeError, match=r"F.prelu 'it': expected a weight for each of 3 channels, or one, got \(2,\)"):
        run("F.prelu", np.zeros((1, 3, 2), np.float32), np.zeros(2, np.float32))


def test_prelu_needs_its_weight() -> None:
    with pytest.raises(ParameterError, match=r"nn.PReLU 'it': expected a weight 'weight', got weights: none"):
        layer("nn.PReLU", num_parameters=1)
