"""Exercise 3.3."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference import max_pooling as reference
from kuiper.layers.window import Window


@pytest.mark.parametrize(
    ("length", "kernel", "stride", "padding", "windows"),
    [
        (5, 2, 2, 0, 2),
        (6, 2, 2, 0, 3),
        (7, 3, 1, 0, 5),
        (7, 3, 3, 0, 2),
        (5, 3, 2, 1, 3),
        (6, 3, 4, 1, 2),
        (4, 4, 3, 0, 1),
        (2, 4, 1, 1, 1),
    ],
)
def test_output_size(impl, length, kernel, stride, padding, windows):
    calling(impl.output_size, length, kernel, stride, padding).gives(windows)


@pytest.mark.parametrize(("length", "kernel", "padding"), [(4, 5, 0), (1, 4, 1), (0, 6, 2)])
def test_output_size_kernel_too_large(impl, length, kernel, padding):
    calling(impl.output_size, length, kernel, 2, padding).raises(ValueError, str(kernel))


def pool(impl, x, shape, kernel, stride, padding):
    """Room with old numbers in it, larger than any of x; then your max_pool."""
    out = np.full(shape, 99, np.float32)
    impl.max_pool(x, out, *kernel, *stride, *padding)
    return out


def picture(*rows):
    return np.array([[rows]], np.float32)


def test_max_pool(impl):
    x = picture([1, 2, 0, -1], [5, 3, 8, 4], [9, 0, 2, 2], [1, 6, 3, 7])
    out = np.zeros((1, 1, 2, 2), np.float32)
    calling(impl.max_pool, x, out, 2, 2, 2, 2, 0, 0).fills(out, [[[[5, 8], [9, 7]]]])


def test_negative_numbers(impl):
    x = picture([-5, -2, -7, -4], [-3, -6, -8, -9])
    calling(pool, impl, x, (1, 1, 1, 2), (2, 2), (2, 2), (0, 0)).gives([[[[-2, -4]]]])


def test_stride_per_axis(impl):
    x = picture([1, 2, 3, 4, 5], [6, 9, 8, 7, 0], [12, 1, 2, 5, 9])
    calling(pool, impl, x, (1, 1, 2, 2), (2, 2), (1, 3), (0, 0)).gives([[[[9, 7], [12, 9]]]])


def test_stride_larger_than_kernel(impl):
    x = picture([4, 1, 7, 2, 9], [3, 8, 5, 6, 0], [1, 2, 3, 4, 5], [9, 9, 9, 9, 9])
    calling(pool, impl, x, (1, 1, 2, 2), (1, 2), (2, 3), (0, 0)).gives([[[[4, 9], [2, 5]]]])


def test_kernel_per_axis(impl):
    x = picture([1, 2, 9, 4], [5, 3, 2, 7], [4, 8, 0, 6])
    calling(pool, impl, x, (1, 1, 1, 4), (3, 1), (1, 1), (0, 0)).gives([[[[5, 8, 9, 7]]]])
    calling(pool, impl, x, (1, 1, 3, 2), (1, 3), (1, 1), (0, 0)).gives([[[[9, 9], [5, 7], [8, 8]]]])


def test_padding(impl):
    x = picture([1, 4, 2], [3, 0, 5])
    calling(pool, impl, x, (1, 1, 2, 2), (2, 2), (2, 2), (1, 1)).gives([[[[1, 4], [3, 5]]]])


def test_padding_of_negative_numbers(impl):
    x = picture([-5, -2, -7], [-3, -6, -4])
    calling(pool, impl, x, (1, 1, 2, 3), (3, 3), (1, 1), (1, 1)).gives([[[[-2, -2, -2], [-2, -2, -2]]]])
    calling(pool, impl, x, (1, 1, 2, 2), (2, 2), (2, 2), (1, 1)).gives([[[[-5, -2], [-3, -4]]]])


def test_padding_per_axis(impl):
    x = picture([1, 9, 2], [3, 4, 8], [7, 5, 6])
    calling(pool, impl, x, (1, 1, 2, 1), (2, 3), (2, 1), (1, 0)).gives([[[[9], [8]]]])
    calling(pool, impl, x, (1, 1, 1, 2), (3, 2), (1, 2), (0, 1)).gives([[[[7, 9]]]])


def test_images_and_channels(impl):
    first, second = [[[1, -2], [-3, -4]], [[5, 6], [7, 8]]], [[[-9, -8], [-7, -6]], [[4, 3], [2, 1]]]
    x = np.array([first, second, [[[0, 1], [2, 3]], [[9, 8], [7, 6]]]], np.float32)
    expected = [[[[1]], [[8]]], [[[-6]], [[4]]], [[[3]], [[9]]]]
    calling(pool, impl, x, (3, 2, 1, 1), (2, 2), (1, 1), (0, 0)).gives(expected)


def test_nan_wins(impl):
    nan = np.nan
    x = picture([nan, 1, 2, 3, 4, 5], [6, 7, 8, nan, 9, 8])
    calling(pool, impl, x, (1, 1, 1, 3), (2, 2), (2, 2), (0, 0)).gives([[[[nan, nan, 9]]]])


def test_infinities(impl):
    x = picture([-np.inf, -np.inf, np.inf, 1])
    calling(pool, impl, x, (1, 1, 1, 2), (1, 2), (1, 2), (0, 0)).gives([[[[-np.inf, np.inf]]]])


@pytest.mark.parametrize("place", range(6))
def test_nan_wins_wherever_it_is(impl, place):
    numbers = [5, 9, -1, 7, 3, 8]
    numbers[place] = np.nan
    calling(pool, impl, picture(numbers[:3], numbers[3:]), (1, 1, 1, 1), (2, 3), (1, 1), (0, 0)).gives([[[[np.nan]]]])


def test_nan_stays_in_its_window(impl):
    x = np.full((2, 2, 2, 4), -7, np.float32)
    x[0, 1, 1, 2] = np.nan
    expected = np.full((2, 2, 1, 2), -7, np.float32)
    expected[0, 1, 0, 1] = np.nan
    calling(pool, impl, x, (2, 2, 1, 2), (2, 2), (2, 2), (0, 0)).gives(expected)


def test_numbers_of_any_size(impl):
    x = picture([-3e38, -2.5e38, 1e-40, 0])
    calling(pool, impl, x, (1, 1, 1, 2), (1, 2), (1, 2), (0, 0)).gives(np.array([[[[-2.5e38, 1e-40]]]], np.float32))


def test_large_kernel_and_padding(impl):
    x = np.random.default_rng(6).permutation(63).astype(np.float32).reshape(1, 1, 7, 9) - 100
    expected, _ = reference.max_pool(x[0], Window((6, 5), (4, 2), (3, 2)))
    calling(pool, impl, x, (1, *expected.shape), (6, 5), (4, 2), (3, 2)).gives(expected[None])


@pytest.mark.parametrize("shape", [(0, 2, 1, 1), (2, 0, 1, 1)])
def test_no_pictures(impl, shape):
    calling(pool, impl, np.zeros((*shape[:2], 2, 2), np.float32), shape, (2, 2), (1, 1), (0, 0)).gives(
        np.zeros(shape, np.float32)
    )


def test_rest_at_the_end_is_not_looked_at(impl):
    x = picture([1, 2, 3, 4, 90], [5, 6, 7, 8, 91], [92, 93, 94, 95, 96])
    calling(pool, impl, x, (1, 1, 1, 2), (2, 2), (2, 2), (0, 0)).gives([[[[6, 8]]]])


def gaps(impl, x):
    """Every second row and column of a larger array: the strides of memory are not those of the window."""
    wide = np.full((*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), 99, np.float32)
    wide[:, :, ::2, ::2] = x
    out = np.full((1, 1, 1, 2), 99, np.float32)
    impl.max_pool(wide[:, :, ::2, ::2], out, 2, 2, 1, 1, 0, 0)
    return out


def test_gaps_in_memory(impl):
    calling(gaps, impl, picture([1, 2, 3], [6, 5, 4])).gives([[[[6, 5]]]])


@given(data=st.data())
def test_as_the_definition(impl, data):
    n, c = data.draw(st.tuples(st.integers(1, 2), st.integers(1, 3)), label="n, c")
    h, w = data.draw(st.tuples(st.integers(3, 7), st.integers(3, 7)), label="h, w")
    kernel = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)), label="kernel")
    stride = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)), label="stride")
    padding = tuple(data.draw(st.integers(0, size // 2), label="padding") for size in kernel)
    random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    x = random.integers(-50, -1, (n, c, h, w)).astype(np.float32) / 2
    expected, _ = reference.max_pool(x.reshape(n * c, h, w), Window(kernel, stride, padding))
    shape = (n, c, *expected.shape[1:])
    calling(pool, impl, x, shape, kernel, stride, padding).gives(expected.reshape(shape))


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    x = np.random.default_rng(1).random((1, 8, 64, 64), np.float32)
    out = np.empty((1, 8, 32, 32), np.float32)
    return best_seconds(lambda: impl.max_pool(x, out, 3, 3, 2, 2, 1, 1)), 9 * out.size, "comparisons"
