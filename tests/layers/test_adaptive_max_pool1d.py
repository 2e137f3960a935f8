import numpy as np

from tests.layers.one_operator import run

X = np.float32([[-1, -2, -3, -4, -2]])


def test_adaptive_max_pool1d_of_negative_numbers() -> None:
    np.testing.assert_array_equal(run("nn.AdaptiveMaxPool1d", X, output_size=[2]), [[-1, -2]])


def test_adaptive_max_pool1d_indices_are_places_in_the_row() -> None:
    values, indices = run("F.adaptive_max_pool1d", np.stack([X, -X]), output_size=2, return_indices=True)
    np.testing.assert_array_equal(values, [[[-1, -2]], [[3, 4]]])
    np.testing.assert_array_equal(indices, [[[0, 4]], [[2, 3]]])
