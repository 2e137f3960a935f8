"""Exercise 1.3, homework of the C++ course."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.course import calling

WIDTHS = st.tuples(*[st.integers(0, 3)] * 4)


def numbered(*shape):
    """1, 2, 3 ... under a shape."""
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def test_tensor_padding(impl):
    expected = [[[0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 0, 0], [0, 4, 5, 6, 0, 0]]]
    calling(impl.padding, numbered(1, 2, 3), (1, 0, 1, 2)).gives(np.array(expected, np.float32))


def test_tensor_padding_of_two_channels(impl):
    expected = [[[9, 1, 2], [9, 9, 9], [9, 9, 9]], [[9, 3, 4], [9, 9, 9], [9, 9, 9]]]
    calling(impl.padding, numbered(2, 1, 2), (0, 2, 1, 0), 9).gives(np.array(expected, np.float32))


@pytest.mark.parametrize(
    ("pads", "expected"),
    [
        ((1, 0, 0, 0), [[[-7, -7], [1, 2], [3, 4], [5, 6]]]),
        ((0, 1, 0, 0), [[[1, 2], [3, 4], [5, 6], [-7, -7]]]),
        ((0, 0, 1, 0), [[[-7, 1, 2], [-7, 3, 4], [-7, 5, 6]]]),
        ((0, 0, 0, 1), [[[1, 2, -7], [3, 4, -7], [5, 6, -7]]]),
    ],
    ids=["up", "bottom", "left", "right"],
)
def test_tensor_padding_one_side(impl, pads, expected):
    calling(impl.padding, numbered(1, 3, 2), pads, -7).gives(expected)


def test_tensor_padding_with_a_fraction(impl):
    calling(impl.padding, numbered(1, 1, 2), (0, 0, 1, 1), -0.5).gives(np.array([[[-0.5, 1, 2, -0.5]]], np.float32))


def test_tensor_padding_with_minus_infinity(impl):
    expected = np.array([[[-np.inf], [1]], [[-np.inf], [2]]], np.float32)
    calling(impl.padding, numbered(2, 1, 1), (1, 0, 0, 0), -np.inf).gives(expected)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint8])
def test_tensor_padding_keeps_the_dtype(impl, dtype):
    calling(impl.padding, np.array([[[5]]], dtype), (0, 1, 1, 0), 3).gives(np.array([[[3, 5], [3, 3]]], dtype))


@pytest.mark.parametrize("order", ["C", "F"])
def test_tensor_padding_of_any_memory_order(impl, order):
    x = np.array(numbered(2, 2, 3), order=order)
    expected = [[[1, 2, 3, 0], [4, 5, 6, 0]], [[7, 8, 9, 0], [10, 11, 12, 0]]]
    calling(impl.padding, x, (0, 0, 0, 1)).gives(expected)


@pytest.mark.parametrize("shape", [(2, 0, 3), (0, 2, 3), (1, 2, 0)])
def test_tensor_padding_of_nothing(impl, shape):
    c, h, w = shape
    calling(impl.padding, np.zeros(shape, np.float32), (1, 2, 3, 4), 5).gives(np.full((c, h + 3, w + 7), 5, np.float32))


def x_after_writing_to_the_result(impl, x, pads):
    impl.padding(x, pads)[...] = -1
    return x


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 2, 0, 1)])
def test_tensor_padding_is_a_copy(impl, pads):
    calling(x_after_writing_to_the_result, impl, numbered(1, 2, 2), pads).gives([[[1, 2], [3, 4]]])


def test_tensor_padding_of_nothing_at_all(impl):
    calling(impl.padding, numbered(2, 1, 2), (0, 0, 0, 0), 8).gives(numbered(2, 1, 2))


@pytest.mark.parametrize(
    "pads", [(-1, 0, 0, 0), (0, -2, 0, 0), (0, 0, -3, 5), (5, 5, 5, -4), (1, 1), (1, 2, 3), (1, 2, 3, 4, 5), ()]
)
def test_tensor_padding_that_makes_no_sense(impl, pads):
    calling(impl.padding, numbered(1, 6, 7), pads).raises(ValueError, str(pads))


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (1, 1, 2, 3)])
def test_tensor_padding_needs_three_axes(impl, shape):
    calling(impl.padding, np.ones(shape, np.float32), (1, 1, 1, 1)).raises(ValueError, str(shape))


@given(c=st.integers(1, 3), h=st.integers(1, 4), w=st.integers(1, 4), pads=WIDTHS, value=st.integers(-9, 9))
def test_tensor_padding_as_in_numpy(impl, c, h, w, pads, value):
    up, bottom, left, right = pads
    expected = np.pad(numbered(c, h, w), ((0, 0), (up, bottom), (left, right)), constant_values=value)
    calling(impl.padding, numbered(c, h, w), pads, value).gives(expected)
