"""Exercise 1.6."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st


def floats(*values):
    return np.array(values, np.float32)


def test_axpy(impl):
    out = np.zeros(3, np.float32)
    calling(impl.axpy, 2, floats(1, 2, 3), floats(10, 20, 30), out).fills(out, [12, 24, 36])


def test_axpy_negative_factor(impl):
    out = np.zeros(4, np.float32)
    calling(impl.axpy, -3, floats(1, -2, 0, 4), floats(5, 7, 9, 11), out).fills(out, [2, 13, 9, -1])


def test_axpy_overwrites_what_was_there(impl):
    out = floats(100, 200)
    calling(impl.axpy, 2, floats(3, 4), floats(1, 0), out).fills(out, [7, 8])


def test_axpy_keeps_fractions(impl):
    out = np.zeros(2, np.float32)
    calling(impl.axpy, 0.5, floats(1, 3), floats(0.25, 0), out).fills(out, [0.75, 1.5])


def test_axpy_by_a_factor_that_is_no_power_of_two(impl):
    out = np.zeros(3, np.float32)
    calling(impl.axpy, 0.3, floats(1, -2, 10), floats(1, 2, 3), out).fills(out, [1.3, 1.4, 6], tolerance=1e-6)


def test_axpy_keeps_nan_and_infinity(impl):
    out = np.zeros(3, np.float32)
    calling(impl.axpy, 0, floats(np.nan, 1, 2), floats(1, np.inf, 3), out).fills(out, [np.nan, np.inf, 3])


def test_axpy_with_gaps_in_memory(impl):
    x, y, out = (np.arange(start, start + 8, dtype=np.float32)[::2] for start in (0, 1, 5))
    calling(impl.axpy, 10, x, y, out).fills(out, [1, 23, 45, 67])


def test_axpy_with_every_second_number_backwards(impl):
    x, y, out = np.arange(6, dtype=np.float32)[::-1], np.arange(6, dtype=np.float32) * 100, np.zeros(6, np.float32)
    calling(impl.axpy, 10, x, y, out).fills(out, [50, 140, 230, 320, 410, 500])


@pytest.mark.parametrize("length", [0, 1, 17, 1000])
def test_axpy_of_length(impl, length):
    x = np.arange(length, dtype=np.float32)
    y = x[::-1].copy()
    out = np.full(length, -1, np.float32)
    calling(impl.axpy, 3, x, y, out).fills(out, 3 * x + y)


def test_exp_negative(impl):
    out = np.zeros(3, np.float32)
    calling(impl.exp_negative, floats(0, 1, -2), out).fills(out, [1, 0.36787944, 7.3890561], tolerance=1e-6)


def test_exp_negative_overwrites_what_was_there(impl):
    out = floats(100, 200)
    calling(impl.exp_negative, floats(0, -1), out).fills(out, [1, 2.7182818], tolerance=1e-6)


def test_exp_negative_with_gaps_in_memory(impl):
    x, out = floats(0, 9, 1, 9)[::2], floats(5, 5, 5, 5)[::2]
    calling(impl.exp_negative, x, out).fills(out, [1, 0.36787944], tolerance=1e-6)


@pytest.mark.parametrize("number", [85, 88])
def test_exp_negative_of_large_numbers(impl, number):
    out = np.zeros(1, np.float32)
    calling(impl.exp_negative, floats(-number), out).fills(out, [np.exp(float(number))], tolerance=1e-5)
    calling(impl.exp_negative, floats(number), out).fills(out, [np.exp(-float(number))], tolerance=1e-5)


def test_exp_negative_at_the_ends(impl):
    out = np.zeros(4, np.float32)
    calling(impl.exp_negative, floats(np.inf, -np.inf, np.nan, 200), out).fills(out, [0, np.inf, np.nan, 0])


@given(values=st.lists(st.integers(-20, 20), max_size=20))
def test_exp_negative_as_in_numpy(impl, values):
    x = np.array(values, np.float32)
    out = np.zeros(len(x), np.float32)
    calling(impl.exp_negative, x, out).fills(out, np.exp(-x.astype(np.float64)).astype(np.float32), tolerance=1e-6)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    x, y = (np.random.default_rng(seed).random(100_000, np.float32) for seed in (1, 2))
    out = np.empty_like(x)
    return best_seconds(lambda: impl.axpy(2.0, x, y, out)), 2 * x.size, "FLOP"
