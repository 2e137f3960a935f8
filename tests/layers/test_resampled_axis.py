import numpy as np
import pytest

from kuiper.layers.resampled_axis import Axis, cubic_table, exact_scale, linear_table, nearest_table


def test_places_lay_edges_or_centres_on_each_other() -> None:
    np.testing.assert_array_equal(Axis(2, 4).places(), [-0.25, 0.25, 0.75, 1.25])
    np.testing.assert_array_equal(Axis(3, 5, align_corners=True).places(), [0, 0.5, 1, 1.5, 2])
    np.testing.assert_array_equal(Axis(3, 1, align_corners=True).places(), [0])


def test_places_use_the_given_scale_not_the_ratio_of_sizes() -> None:
    # 5 pixels at scale 2.5 are 12, but an output is 0.4 input pixels wide, not 5/12
    np.testing.assert_allclose(Axis(5, 12, 2.5).places()[:3], [-0.3, 0.1, 0.5], atol=1e-6)


def test_nearest_table_rounds_down() -> None:
    assert nearest_table(Axis(3, 7)).tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert nearest_table(Axis(3, 7), exact=True).tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert nearest_table(Axis(7, 3)).tolist() == [0, 2, 4]
    assert nearest_table(Axis(7, 3), exact=True).tolist() == [1, 3, 5]


def test_nearest_table_of_a_small_image_reads_a_scale_that_keeps_the_size_as_one() -> None:
    assert nearest_table(Axis(4, 4, 1.2)).tolist() == [0, 0, 1, 2]
    assert nearest_table(Axis(4, 4, 1.2, of_small_image=True)).tolist() == [0, 1, 2, 3]


def test_linear_table_weighs_two_neighbours() -> None:
    indices, weights = linear_table(Axis(2, 4))
    assert indices.tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]
    assert weights.tolist() == [[1, 0.75, 0.25, 0.75], [0, 0.25, 0.75, 0.25]]


def test_linear_table_of_the_same_size_copies() -> None:
    indices, weights = linear_table(Axis(3, 3, 1.3))
    assert indices.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert weights.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_cubic_table_weighs_four_neighbours() -> None:
    indices, weights = cubic_table(Axis(3, 5, align_corners=True))
    assert indices.tolist() == [[0, 0, 0, 0, 1], [0, 0, 1, 1, 2], [1, 1, 2, 2, 2], [2, 2, 2, 2, 2]]
    np.testing.assert_allclose(weights[:, 1], [-0.09375, 0.59375, 0.59375, -0.09375], atol=1e-6)
    np.testing.assert_allclose(weights[:, 2], [0, 1, 0, 0], atol=1e-6)


@pytest.mark.parametrize("size_out", [1, 2, 7, 8, 13, 17])
def test_tables_have_weights_that_add_up_to_one(size_out: int) -> None:
    for axis in (Axis(5, size_out), Axis(5, size_out, size_out / 5 + 0.01), Axis(5, size_out, align_corners=True)):
        for table in (linear_table, cubic_table):
            indices, weights = table(axis)
            np.testing.assert_allclose(weights.sum(0), 1, atol=1e-6)
            assert indices.min() >= 0
            assert indices.max() < 5


@pytest.mark.parametrize(("written", "meant"), [(3.333333e-1, 1 / 3), (0.833333313, 5 / 6), (1.5, 1.5), (0.29, 0.29)])
def test_exact_scale_restores_what_the_file_rounded(written: float, meant: float) -> None:
    assert exact_scale(written) == meant
