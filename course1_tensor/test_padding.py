"""Exercise 1.3, which is homework in the KuiperInfer course (kuiperdatawhale), too."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

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


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.int32, np.int8, np.uint8, np.uint64])
def test_tensor_padding_keeps_the_dtype(impl, dtype):
    calling(impl.padding, np.array([[[5]]], dtype), (0, 1, 1, 0), 3).gives(np.array([[[3, 5], [3, 3]]], dtype))


def test_tensor_padding_of_bools(impl):
    x = np.array([[[True, False]]])
    calling(impl.padding, x, (0, 0, 1, 1), True).gives(np.array([[[True, True, False, True]]]))
    calling(impl.padding, x, (1, 0, 0, 0)).gives(np.array([[[False, False], [True, False]]]))


@pytest.mark.parametrize(
    ("dtype", "number"),
    [(np.int64, 2**53 + 1), (np.int64, -(2**63)), (np.uint64, 2**64 - 1), (np.int32, 2**24 + 1), (np.float64, 0.1)],
)
def test_tensor_padding_rounds_nothing(impl, dtype, number):
    expected = np.array([[[0, number, 7], [0, 0, 0]]], dtype)
    calling(impl.padding, np.array([[[number, 7]]], dtype), (0, 1, 1, 0)).gives(expected)


def test_tensor_padding_keeps_nan_and_infinity(impl):
    x = np.array([[[np.nan, -np.inf], [np.inf, 0]]], np.float32)
    expected = np.array([[[5, np.nan, -np.inf], [5, np.inf, 0], [5, 5, 5]]], np.float32)
    calling(impl.padding, x, (0, 1, 1, 0), 5).gives(expected)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_tensor_padding_with_no_number(impl, value):
    x = np.array([[[1, -2]], [[0, 4]]], np.float32)
    expected = np.array([[[value, 1, -2], [value] * 3], [[value, 0, 4], [value] * 3]], np.float32)
    calling(impl.padding, x, (0, 1, 1, 0), value).gives(expected)


def test_tensor_padding_with_gaps_in_memory(impl):
    x = numbered(2, 4, 6)[:, ::2, ::3]
    expected = [[[1, 4, 0], [13, 16, 0]], [[25, 28, 0], [37, 40, 0]]]
    calling(impl.padding, x, (0, 0, 0, 1)).gives(expected)


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
