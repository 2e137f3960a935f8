"""Exercise 3.11. What PyTorch answers stands in data/norms.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate

STORED = json.loads(Path(__file__).parent.joinpath("data", "norms.json").read_text(encoding="utf-8"))
FAR = np.float32([[1, -1, 3, -3, 5, -5], [2, 2, 2, -2, -2, -2]])  # means 0, variances 35/3 and 4
FAR_VARIANCES = np.float32([35 / 3, 4])


def array(*numbers):
    return np.array(numbers, np.float32)


def moments(count, means, variances):
    return count, np.float32(means), np.float32(variances)


def test_two_passes(impl):
    calling(impl.two_passes, array([1, 3])).gives((array(2), array(1)))


def test_two_passes_of_each_row(impl):
    """More rows than columns: one mean for each row, not for each column."""
    rows = array([1, 3], [5, 5], [-2, 8], [0, -1])
    calling(impl.two_passes, rows).gives((array(2, 5, 3, -0.5), array(1, 0, 25, 0.25)))


def test_two_passes_divides_by_the_count(impl):
    calling(impl.two_passes, array([0, 3, 6, 11])).gives((array(5), array(16.5)), tolerance=1e-6)


def test_two_passes_of_one_number(impl):
    calling(impl.two_passes, array([7], [-2])).gives((array(7, -2), array(0, 0)))


def test_two_passes_around_a_large_mean(impl):
    """In float32 mean of squares minus square of mean has no right digit here."""
    calling(impl.two_passes, FAR + 10000).gives((array(10000, 10000), FAR_VARIANCES), tolerance=1e-4)


def test_two_passes_of_tiny_numbers(impl):
    calling(impl.two_passes, array([1e-4, 3e-4])).gives((array(2e-4), array(1e-8)), tolerance=1e-4)


def test_join(impl):
    calling(impl.join, moments(1, [2], [0]), moments(1, [6], [0])).gives(moments(2, [4], [4]))


def test_join_keeps_what_was_within_each_piece(impl):
    """Both pieces have the mean 5, and both were spread: 2, 8 and 4, 6."""
    calling(impl.join, moments(2, [5], [9]), moments(2, [5], [1])).gives(moments(4, [5], [5]))


def test_join_adds_the_distance_of_the_means(impl):
    """1, 3 and 9, 11: 1 within each piece, and 8 between their means."""
    calling(impl.join, moments(2, [2], [1]), moments(2, [10], [1])).gives(moments(4, [6], [17]))


def test_join_pieces_of_different_counts(impl):
    """1, 3, 2, 6, 8 and 10, 14, 12: the larger piece counts for more."""
    calling(impl.join, moments(6, [4], [6]), moments(2, [12], [4])).gives(moments(8, [6], [17.5]), tolerance=1e-6)
    calling(impl.join, moments(2, [12], [4]), moments(6, [4], [6])).gives(moments(8, [6], [17.5]), tolerance=1e-6)


def test_join_of_several_rows(impl):
    first, second = moments(3, [3, 0, -6], [0, 9, 1]), moments(1, [7, 0, 2], [0, 1, 5])
    calling(impl.join, first, second).gives(moments(4, [4, 0, -4], [3, 7, 14]), tolerance=1e-6)


def test_join_of_means_far_from_zero(impl):
    """The mean of 10000 and 10004, three to one."""
    first, second = moments(3, [10000], [2]), moments(1, [10004], [0])
    calling(impl.join, first, second).gives(moments(4, [10001], [4.5]), tolerance=1e-6)


def test_join_of_very_many_numbers(impl):
    """Their product has 14 digits, more than an int32 holds."""
    first, second = moments(10**7, [1], [3]), moments(3 * 10**7, [5], [7])
    calling(impl.join, first, second).gives(moments(4 * 10**7, [4], [9]), tolerance=1e-6)


def in_pieces(impl, rows, lengths):
    """The answer for rows that come piece by piece; nobody can take a piece twice."""

    def one_after_the_other():
        begin = 0
        for length in lengths:
            yield rows[:, begin : begin + length].copy()
            begin += length

    return impl.one_pass(one_after_the_other())


def test_one_pass_of_one_piece(impl):
    calling(in_pieces, impl, array([1, 3], [5, 5]), [2]).gives((array(2, 5), array(1, 0)))


def test_one_pass_of_two_pieces(impl):
    calling(in_pieces, impl, array([1, 3, 9, 11], [5, 5, 5, 5]), [2, 2]).gives((array(6, 5), array(17, 0)))


def test_one_pass_of_pieces_of_one_number(impl):
    calling(in_pieces, impl, array([1, 3, 8], [0, 0, 6]), [1, 1, 1]).gives(
        (array(4, 2), array(26 / 3, 8)), tolerance=1e-6
    )


def test_one_pass_of_pieces_of_different_lengths(impl):
    rows = array([2, 4, 12, 0, -3, 9, 4, 4])
    calling(in_pieces, impl, rows, [3, 1, 4]).gives((array(4), array(19.75)), tolerance=1e-6)


def test_one_pass_around_a_large_mean(impl):
    """Three pieces of two numbers, all near 10000: no digits may be lost."""
    calling(in_pieces, impl, FAR + 10000, [2, 2, 2]).gives((array(10000, 10000), FAR_VARIANCES), tolerance=1e-3)


def test_one_pass_of_single_numbers_around_a_large_mean(impl):
    calling(in_pieces, impl, FAR - 4000, [1] * 6).gives((array(-4000, -4000), FAR_VARIANCES), tolerance=1e-3)


def most_kept(impl, pieces):
    """How many of the pieces were in memory at once while the next one was made."""
    import weakref

    made, kept = [], [0]

    def one_after_the_other():
        for i in range(pieces):
            piece = np.full((2, 3), i, np.float32)
            kept.append(sum(earlier() is not None for earlier in made))
            made.append(weakref.ref(piece))
            yield piece
            del piece

    impl.one_pass(one_after_the_other())
    return max(kept)


def test_one_pass_keeps_no_pieces(impl):
    kept = calling(most_kept, impl, 40).answer()
    same(translate("whether more than 2 of the 40 pieces were kept"), kept > 2, False)


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_one_pass_as_two_passes(impl, lengths, seed):
    rows = np.random.default_rng(seed).integers(1, 18, (3, sum(lengths))).astype(np.float32)
    means, variances = rows.mean(axis=1, dtype=np.float64), rows.var(axis=1, dtype=np.float64)
    calling(in_pieces, impl, rows, lengths).gives(
        (means.astype(np.float32), variances.astype(np.float32)), tolerance=1e-4
    )


def test_layer_norm(impl):
    calling(impl.layer_norm, array([2, 6]), 1, eps=0.0).gives(array([-1, 1]), tolerance=1e-6)


def test_layer_norm_of_each_row(impl):
    x = array([2, 6], [5, -5], [0, 0.5])
    calling(impl.layer_norm, x, 1, eps=0.0).gives(array([-1, 1], [1, -1], [-1, 1]), tolerance=1e-6)


def test_layer_norm_over_two_axes(impl):
    """Two images: each has one mean, 3 and -10."""
    x = array([[0, 6], [2, 4]], [[-10, -13], [-10, -7]])
    wanted = array([[-3, 3], [-1, 1]], [[0, -np.sqrt(10)], [0, np.sqrt(10)]]) / np.float32(np.sqrt(5))
    calling(impl.layer_norm, x, 2, eps=0.0).gives(wanted, tolerance=1e-6)


def test_layer_norm_eps_stands_below_the_root(impl):
    calling(impl.layer_norm, array([1, 3], [10, 10]), 1, eps=3.0).gives(array([-0.5, 0.5], [0, 0]), tolerance=1e-6)


def test_layer_norm_eps_is_small_by_default(impl):
    """The variance is 1e-4 and eps is 1e-5."""
    wanted = 0.01 / np.sqrt(1.1e-4)
    calling(impl.layer_norm, array([0.01, 0.03]), 1).gives(array([-wanted, wanted]), tolerance=1e-5)


def test_layer_norm_with_weight(impl):
    x = array([2, 6], [9, 5])
    calling(impl.layer_norm, x, 1, array(3, 100), eps=0.0).gives(array([-3, 100], [3, -100]), tolerance=1e-6)


def test_layer_norm_with_bias(impl):
    x = array([2, 6], [9, 5])
    calling(impl.layer_norm, x, 1, None, array(5, 30), eps=0.0).gives(array([4, 31], [6, 29]), tolerance=1e-6)


def test_layer_norm_with_both(impl):
    x = array([2, 6], [9, 5], [0, 0])
    wanted = array([2, 130], [8, -70], [5, 30])
    calling(impl.layer_norm, x, 1, array(3, 100), array(5, 30)).gives(wanted, tolerance=1e-5)


def test_layer_norm_of_a_view(impl):
    x = array([2, 9], [6, 5]).T
    calling(impl.layer_norm, x, 1, array(3, 100), eps=0.0).gives(array([-3, 100], [3, -100]), tolerance=1e-6)


def test_layer_norm_around_a_large_mean(impl):
    wanted = FAR / np.sqrt(FAR_VARIANCES)[:, None]
    calling(impl.layer_norm, FAR + 10000, 1).gives(wanted, tolerance=1e-4)


@pytest.mark.parametrize("name", STORED["layer_norm"])
def test_layer_norm_as_in_pytorch(impl, name):
    case = STORED["layer_norm"][name]
    weight, bias = (None if case[key] is None else np.float32(case[key]) for key in ("weight", "bias"))
    calling(impl.layer_norm, np.float32(case["x"]), case["axes"], weight, bias, STORED["eps"]).gives(
        np.float32(case["y"]), tolerance=1e-5
    )


def test_group_norm(impl):
    x = array([[2, 6], [10, 30]])
    calling(impl.group_norm, x, 2, eps=0.0).gives(array([[-1, 1], [-1, 1]]), tolerance=1e-6)


def test_group_norm_with_one_group(impl):
    """All channels of an image share one mean, 3."""
    x = array([[0, 6], [2, 4]]) * np.sqrt(np.float32(5))
    calling(impl.group_norm, x, 1, eps=0.0).gives(array([[-3, 3], [-1, 1]]) / np.sqrt(np.float32(5)), tolerance=1e-6)


def test_group_norm_groups_are_neighbours(impl):
    """Four channels, two groups: 0 with 1, and 2 with 3."""
    x = array([[0], [2], [100], [300]])
    calling(impl.group_norm, x, 2, eps=0.0).gives(array([[-1], [1], [-1], [1]]), tolerance=1e-6)


def test_group_norm_of_several_images(impl):
    x = array([[1, 3], [10, 50]], [[7, 5], [-4, 0]], [[0, 2], [2, 0]])
    wanted = array([[-1, 1], [-1, 1]], [[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
    calling(impl.group_norm, x, 2, eps=0.0).gives(wanted, tolerance=1e-6)


def test_group_norm_weight_of_each_channel(impl):
    """Two groups of two channels with two pixels: four weights and four biases."""
    x = array([[1, 3], [1, 3], [10, 50], [50, 10]])
    wanted = array([[-1, 1], [-2, 2], [-3, 3], [4, -4]])
    calling(impl.group_norm, x, 2, array(1, 2, 3, 4), eps=0.0).gives(wanted, tolerance=1e-6)


def test_group_norm_bias_of_each_channel(impl):
    x = array([[1, 3], [1, 3], [10, 50], [50, 10]])
    wanted = array([[9, 11], [19, 21], [29, 31], [41, 39]])
    calling(impl.group_norm, x, 2, None, array(10, 20, 30, 40), eps=0.0).gives(wanted, tolerance=1e-6)


def test_group_norm_without_pixels(impl):
    x = array([1, 3, 10, 50], [7, 5, -4, 0])
    wanted = array([-1, 2, -3, 4], [1, -2, -3, 4])
    calling(impl.group_norm, x, 2, array(1, 2, 3, 4), eps=0.0).gives(wanted, tolerance=1e-6)


def test_group_norm_eps_stands_below_the_root(impl):
    calling(impl.group_norm, array([[1, 3], [10, 10]]), 2, eps=3.0).gives(array([[-0.5, 0.5], [0, 0]]), tolerance=1e-6)


def test_group_norm_of_channels_last_memory(impl):
    """The numbers do not lie in the order of the axes."""
    x = np.ascontiguousarray(array([[1, 3, 5, 7], [10, 50, 10, 50]]).swapaxes(1, 2)).swapaxes(1, 2)
    root = np.float32(np.sqrt(5))
    wanted = array([np.float32([-3, -1, 1, 3]) / root * 2, [-3, 3, -3, 3]])
    calling(impl.group_norm, x, 2, array(2, 3), eps=0.0).gives(wanted, tolerance=1e-6)


@pytest.mark.parametrize("name", STORED["group_norm"])
def test_group_norm_as_in_pytorch(impl, name):
    case = STORED["group_norm"][name]
    weight, bias = (None if case[key] is None else np.float32(case[key]) for key in ("weight", "bias"))
    calling(impl.group_norm, np.float32(case["x"]), case["groups"], weight, bias, STORED["eps"]).gives(
        np.float32(case["y"]), tolerance=1e-5
    )


@pytest.mark.parametrize(("channels", "groups"), [(5, 2), (4, 3), (2, 4)])
def test_group_norm_unequal_groups(impl, channels, groups):
    calling(impl.group_norm, np.ones((1, channels, 2), np.float32), groups).raises(ValueError, "groups")
