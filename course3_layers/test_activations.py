"""Exercise 3.2."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

CURVES = {
    "relu": lambda x: np.where(x < 0, 0, x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
}
NAMES = list(CURVES)


def curve(name, x):
    return CURVES[name](x.astype(np.float64)).tolist()


def floats(*values):
    return np.array(values, np.float32)


def test_relu(impl):
    out = floats(90, 90, 90, 90, 90)
    calling(impl.relu, floats(-2, 0, 3, -0.5, 7.25), out).fills(out, [0, 0, 3, 0, 7.25])


def test_relu_of_nan_and_infinities(impl):
    out = floats(90, 90, 90, 90)
    calling(impl.relu, floats(np.nan, np.inf, -np.inf, 1), out).fills(out, [np.nan, np.inf, 0, 1])


def test_sigmoid(impl):
    out = floats(90, 90, 90, 90)
    expected = [0.11920292, 0.5, 0.95257413, 0.62245933]
    calling(impl.sigmoid, floats(-2, 0, 3, 0.5), out).fills(out, expected, tolerance=1e-6)


def test_sigmoid_of_large_numbers(impl):
    out = floats(90, 90, 90, 90)
    calling(impl.sigmoid, floats(200, -200, np.inf, -np.inf), out).fills(out, [1, 0, 1, 0], tolerance=1e-6)


def test_sigmoid_of_nan(impl):
    out = floats(90, 90)
    calling(impl.sigmoid, floats(np.nan, 0), out).fills(out, [np.nan, 0.5])


def test_silu(impl):
    out = floats(90, 90, 90, 90)
    calling(impl.silu, floats(-2, 0, 3, 0.5), out).fills(out, [-0.23840584, 0, 2.8577224, 0.31122967], tolerance=1e-6)


def test_silu_of_large_numbers(impl):
    out = floats(90, 90, 90, 90)
    calling(impl.silu, floats(200, -200, np.inf, np.nan), out).fills(out, [200, 0, np.inf, np.nan], tolerance=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_in_place(impl, name):
    x = floats(2, -1, 0, 3, -4)
    calling(seen_in_place, impl, name, x).gives(curve(name, x), tolerance=1e-6)


def seen_in_place(impl, name, x):
    out = x.copy()
    getattr(impl, name)(out, out)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_many_numbers(impl, name):
    x = np.random.default_rng(1).normal(0, 4, 1003).astype(np.float32)
    out = np.full(1003, 90, np.float32)
    calling(getattr(impl, name), x, out).fills(out, curve(name, x), tolerance=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [-80, -20, -1e-6, 1e-6, 20, 80])
def test_one_number(impl, name, number):
    x, out = floats(number), floats(90)
    calling(getattr(impl, name), x, out).fills(out, curve(name, x), tolerance=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_gaps_in_memory(impl, name):
    x = np.arange(-4, 5, dtype=np.float32)[::2]
    out = np.full(10, 90, np.float32)[::2]
    calling(getattr(impl, name), x, out).fills(out, curve(name, x), tolerance=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_no_numbers_and_one(impl, name):
    calling(lengths, impl, name).gives([[], curve(name, floats(-1))], tolerance=1e-6)


def lengths(impl, name):
    outs = [np.zeros(0, np.float32), np.full(1, 90, np.float32)]
    for out in outs:
        getattr(impl, name)(np.full(len(out), -1, np.float32), out)
    return outs


@pytest.mark.parametrize("name", NAMES)
@given(values=st.lists(st.integers(-160, 160).map(lambda k: k / 8), min_size=1, max_size=20))
def test_as_in_numpy(impl, name, values):
    x = np.array(values, np.float32)
    out = np.full(len(x), 90, np.float32)
    calling(getattr(impl, name), x, out).fills(out, curve(name, x), tolerance=1e-6)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    x = np.random.default_rng(1).random(100_000, np.float32)
    out = np.empty_like(x)
    return best_seconds(lambda: impl.silu(x, out)), x.size, "numbers"
