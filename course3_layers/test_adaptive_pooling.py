"""Exercise 3.7."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference import adaptive_pooling as reference


def picture(*rows):
    return np.array([[rows]], np.float32)


def result(*rows):
    return np.array([[rows]], np.float32)


WIDE = picture([1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 30])


@pytest.mark.parametrize(
    ("length", "count", "expected"),
    [
        (6, 3, [(0, 2), (2, 4), (4, 6)]),
        (7, 3, [(0, 3), (2, 5), (4, 7)]),
        (5, 2, [(0, 3), (2, 5)]),
        (8, 5, [(0, 2), (1, 4), (3, 5), (4, 7), (6, 8)]),
        (3, 5, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]),
        (1, 3, [(0, 1), (0, 1), (0, 1)]),
        (4, 4, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        (9, 1, [(0, 9)]),
        (10**17 + 1, 2, [(0, 50000000000000001), (50000000000000000, 100000000000000001)]),
        (3 * 10**40 + 1, 3, [(i * 10**40, (i + 1) * 10**40 + 1) for i in range(3)]),
        (10**60, 4, [(i * 10**60 // 4, (i + 1) * 10**60 // 4) for i in range(4)]),
    ],
)
def test_windows(impl, length, count, expected):
    calling(impl.windows, length, count).gives(expected)


def test_no_overlap(impl):
    x = picture([1, 3, 10, 20], [5, 7, 30, 44])
    calling(impl.adaptive_avg_pool2d, x, (1, 2)).gives(result([4, 26]))


def test_overlap_across(impl):
    calling(impl.adaptive_avg_pool2d, WIDE, (3, 2)).gives(result([2, 4], [7, 9], [12, 19]))


def test_overlap_down(impl):
    calling(impl.adaptive_avg_pool2d, WIDE, (2, 5)).gives(result([3.5, 4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5, 20]))


def test_overlap_both_ways(impl):
    calling(impl.adaptive_avg_pool2d, WIDE, (2, 2)).gives(result([4.5, 6.5], [9.5, 14]))


def test_windows_of_other_lengths(impl):
    x = picture([1, 3, 5, 10, 20, 30, 50, 90])
    calling(impl.adaptive_avg_pool2d, x, (1, 5)).gives(result([2, 6, 15, 100 / 3, 70]), tolerance=1e-7)


def test_more_windows_than_pixels(impl):
    x = picture([2, 4, 10])
    expected = result(*[[2, 3, 4, 7, 10]] * 2)
    calling(impl.adaptive_avg_pool2d, x, (2, 5)).gives(expected)


def test_one_window(impl):
    calling(impl.adaptive_avg_pool2d, WIDE, (1, 1)).gives(result([9]))


def test_one_number_for_both(impl):
    calling(impl.adaptive_avg_pool2d, WIDE, 2).gives(result([4.5, 6.5], [9.5, 14]))
    calling(impl.adaptive_avg_pool2d, WIDE, 1).gives(result([9]))


@pytest.mark.parametrize("keep", [None, 0])
def test_size_kept(impl, keep):
    calling(impl.adaptive_avg_pool2d, WIDE, (keep, 2)).gives(result([2, 4], [7, 9], [12, 19]))
    calling(impl.adaptive_avg_pool2d, WIDE, (1, keep)).gives(result([6, 7, 8, 9, 15]))
    calling(impl.adaptive_avg_pool2d, WIDE, (keep, keep)).gives(WIDE)
    calling(impl.adaptive_avg_pool2d, WIDE, keep).gives(WIDE)


def test_images_and_channels(impl):
    first, second = [[[1, -3], [-5, -9]], [[5, 7], [9, 11]]], [[[-8, -8], [-8, 0]], [[4, 3], [2, 3]]]
    x = np.array([first, second, [[[0, 1], [2, 5]], [[9, 8], [7, 0]]]], np.float32)
    expected = [[[[-4]], [[8]]], [[[-6]], [[3]]], [[[2]], [[6]]]]
    calling(impl.adaptive_avg_pool2d, x, (1, 1)).gives(np.array(expected, np.float32))
    rows = [[[[-1, -7]], [[6, 10]]], [[[-8, -4]], [[3.5, 2.5]]], [[[0.5, 3.5]], [[8.5, 3.5]]]]
    expected = np.array(rows, np.float32).swapaxes(2, 3)
    calling(impl.adaptive_avg_pool2d, x, (2, 1)).gives(expected)


def test_no_images(impl):
    x, expected = np.zeros((0, 2, 4, 5), np.float32), np.zeros((0, 2, 3, 2), np.float32)
    calling(impl.adaptive_avg_pool2d, x, (3, 2)).gives(expected)


def test_sum_in_float64(impl):
    x = picture([16777216, 1, 1, 1, 1], [-16777216, 1, 1, 1, 8])
    calling(impl.adaptive_avg_pool2d, x, (1, 1)).gives(result([1.5]))


def test_nothing_is_rounded_between_rows_and_columns(impl):
    x = picture([16777216, 1], [1, -16777216])
    calling(impl.adaptive_avg_pool2d, x, (1, 1)).gives(result([0.5]))
    calling(impl.adaptive_avg_pool2d, x[..., [1, 0]], (1, 1)).gives(result([0.5]))


def test_sums_of_other_windows_leave_no_trace(impl):
    x = picture([1e30, 1, 2, 3, 4, 5], [1, 1e30, 3, 4, 5, 6])
    calling(impl.adaptive_avg_pool2d, x, (2, 3)).gives(result([5e29, 2.5, 4.5], [5e29, 3.5, 5.5]))


def test_gaps_in_memory(impl):
    x = np.arange(2 * 2 * 6 * 8, dtype=np.float32).reshape(2, 2, 6, 8)[:, ::-1, ::2, ::2]
    expected = reference.adaptive_average(np.ascontiguousarray(x).reshape(4, 3, 4), (2, 3)).reshape(2, 2, 2, 3)
    calling(impl.adaptive_avg_pool2d, x, (2, 3)).gives(expected, tolerance=1e-6)
    calling(impl.adaptive_avg_pool2d, np.asfortranarray(x), (2, 3)).gives(expected, tolerance=1e-6)


def test_large_numbers(impl):
    calling(impl.adaptive_avg_pool2d, picture([3e38, 3e38]), (1, 1)).gives(result([3e38]))


def test_nan_and_infinity(impl):
    x = picture([np.nan, 1, 3, np.inf, 5])
    calling(impl.adaptive_avg_pool2d, x, (1, 5)).gives(x)
    calling(impl.adaptive_avg_pool2d, x, (1, 2)).gives(result([np.nan, np.inf]))


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (1, 2, 3, 4, 5)])
def test_error_of_rank(impl, shape):
    calling(impl.adaptive_avg_pool2d, np.ones(shape, np.float32), (2, 2)).raises(ValueError, "axes")


@pytest.mark.parametrize("output_size", [(-1, 2), (2, -1), -2, (None, -3), (2,), (1, 2, 3), ()])
def test_error_of_output_size(impl, output_size):
    calling(impl.adaptive_avg_pool2d, WIDE, output_size).raises(ValueError, "output_size")


def x_after_writing_to_the_result(impl, x):
    impl.adaptive_avg_pool2d(x, None)[...] = -1
    return x


def test_result_is_a_new_array(impl):
    calling(x_after_writing_to_the_result, impl, WIDE).gives(WIDE)


LENGTHS = st.integers(1, 40) | st.integers(1, 10**50)


@pytest.mark.parametrize("count", range(1, 25))
def test_windows_of_every_small_length(impl, count):
    for length in range(1, 25):
        cuts = [Fraction(i * length, count) for i in range(count + 1)]
        expected = [(math.floor(first), math.ceil(last)) for first, last in pairwise(cuts)]
        calling(impl.windows, length, count).gives(expected)


@given(length=LENGTHS, count=st.integers(1, 40))
def test_windows_as_the_definition(impl, length, count):
    cuts = [Fraction(i * length, count) for i in range(count + 1)]
    expected = [(math.floor(first), math.ceil(last)) for first, last in pairwise(cuts)]
    calling(impl.windows, length, count).gives(expected)


@given(data=st.data())
def test_as_the_definition(impl, data):
    n, c, h, w, out_h, out_w = data.draw(
        st.tuples(*[st.integers(1, most) for most in (2, 3, 7, 8, 7, 8)]), label="sizes"
    )
    random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    x = random.normal(size=(n, c, h, w)).astype(np.float32)
    expected = reference.adaptive_average(x.reshape(n * c, h, w), (out_h, out_w)).reshape(n, c, out_h, out_w)
    calling(impl.adaptive_avg_pool2d, x, (out_h, out_w)).gives(expected, tolerance=1e-6)
