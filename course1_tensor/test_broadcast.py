"""Exercise 1.5."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

CHANNELS = [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [-1, -2, -3]]]  # (2, 2, 3)
NO_FIT = [
    ((2, 3), (2, 4)),
    ((2,), (4,)),
    ((3,), (3, 4)),
    ((2, 3), (2,)),
    ((0,), (3,)),
    ((2, 1, 3), (3, 1, 3)),
    ((4, 3), (2, 3)),
]
SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def floats(values):
    return np.array(values, np.float32)


def numbered(shape, first=1):
    """Integers under a shape."""
    return np.arange(first, first + math.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((2, 1, 1), (2, 4, 3), (2, 4, 3)),
        ((2, 4, 3), (2, 4, 3), (2, 4, 3)),
        ((5, 1, 3), (1, 4, 1), (5, 4, 3)),
        ((3,), (2, 3), (2, 3)),
        ((4, 1), (2, 3, 1, 5), (2, 3, 4, 5)),
        ((1,), (7,), (7,)),
        ((), (2, 3), (2, 3)),
        ((), (), ()),
        ((1, 1), (1,), (1, 1)),
        ((3, 1), (0,), (3, 0)),
        ((2, 0), (2, 0), (2, 0)),
        ((1, 0), (4, 1), (4, 0)),
    ],
)
def test_broadcast_shape(impl, a, b, expected):
    calling(impl.broadcast_shape, a, b).gives(expected)
    calling(impl.broadcast_shape, b, a).gives(expected)


@pytest.mark.parametrize(("a", "b"), NO_FIT)
def test_broadcast_shape_that_does_not_exist(impl, a, b):
    for shape in (a, b):
        calling(impl.broadcast_shape, a, b).raises(ValueError, str(shape))
        calling(impl.broadcast_shape, b, a).raises(ValueError, str(shape))


@pytest.mark.parametrize(
    ("shape", "steps", "target", "expected"),
    [
        ((2, 1, 1), (1, 1, 1), (2, 4, 3), (1, 0, 0)),
        ((2, 4, 3), (12, 3, 1), (2, 4, 3), (12, 3, 1)),
        ((3,), (1,), (2, 3), (0, 1)),
        ((4, 1), (1, 1), (2, 3, 4, 5), (0, 0, 1, 0)),
        ((2, 1, 3), (1, 2, 2), (2, 4, 3), (1, 0, 2)),
        ((2, 3), (50, 7), (4, 2, 3), (0, 50, 7)),
        ((1, 3), (9, 1), (2, 3), (0, 1)),
        ((), (), (2, 3), (0, 0)),
        ((), (), (), ()),
        ((1,), (1,), (0,), (0,)),
        ((1, 2), (2, 1), (1, 2), (2, 1)),
    ],
)
def test_stretched_strides(impl, shape, steps, target, expected):
    calling(impl.stretched_strides, shape, steps, target).gives(expected)


def test_add_one_number_to_each_channel(impl):
    expected = [[[11, 12, 13], [14, 15, 16]], [[27, 28, 29], [19, 18, 17]]]
    calling(impl.add, floats([[[10]], [[20]]]), floats(CHANNELS)).gives(floats(expected))


def test_multiply_each_channel_by_one_number(impl):
    expected = [[[2, 4, 6], [8, 10, 12]], [[-7, -8, -9], [1, 2, 3]]]
    calling(impl.multiply, floats(CHANNELS), floats([[[2]], [[-1]]])).gives(floats(expected))


def test_add_of_one_shape(impl):
    calling(impl.add, floats([[1, 2, 3], [4, 5, 6]]), floats([[10, 0, -3], [0.5, 5, 1]])).gives(
        floats([[11, 2, 0], [4.5, 10, 7]])
    )


def test_add_a_row_to_each_row(impl):
    calling(impl.add, floats([[1, 2, 3], [4, 5, 6]]), floats([10, 20, 30])).gives(floats([[11, 22, 33], [14, 25, 36]]))


def test_add_a_row_to_a_square(impl):
    calling(impl.add, floats([10, 20]), floats([[1, 2], [3, 4]])).gives(floats([[11, 22], [13, 24]]))


def test_add_a_column_and_a_row(impl):
    calling(impl.add, floats([[1], [2]]), floats([[10, 20, 30]])).gives(floats([[11, 21, 31], [12, 22, 32]]))


def test_multiply_a_column_and_a_row(impl):
    calling(impl.multiply, floats([3, 4, -5]), floats([[1], [2]])).gives(floats([[3, 4, -5], [6, 8, -10]]))


def test_multiply_stretches_both_in_the_middle(impl):
    x, y = floats([[[1, 2]], [[3, 4]]]), floats([[1], [10], [100]])  # (2, 1, 2) and (3, 1)
    expected = [[[1, 2], [10, 20], [100, 200]], [[3, 4], [30, 40], [300, 400]]]
    calling(impl.multiply, x, y).gives(floats(expected))


def test_add_a_number_without_axes(impl):
    calling(impl.add, floats([[1, 2]]), floats(0.5)).gives(floats([[1.5, 2.5]]))
    calling(impl.multiply, floats(3), floats(-2)).gives(floats(-6))


def test_add_nothing(impl):
    calling(impl.add, floats([[1], [2]]), np.zeros((1, 0), np.float32)).gives(np.zeros((2, 0), np.float32))


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_what_lies_column_major(impl, order):
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32, order=order)
    calling(impl.add, x, floats([[100], [200]])).gives(floats([[101, 102, 103], [204, 205, 206]]))


def test_multiply_with_gaps_in_memory(impl):
    x = numbered((4, 6))[::2, ::3]  # [[1, 4], [13, 16]]
    calling(impl.multiply, x, floats([2, -1])).gives(floats([[2, -4], [26, -16]]))


def test_nan_and_infinity(impl):
    x, y = floats([[np.nan], [np.inf], [2]]), floats([[1, 0, -np.inf]])
    with np.errstate(invalid="ignore"):
        calling(impl.add, x, y).gives(x + y)
        calling(impl.multiply, x, y).gives(x * y)


def test_five_axes(impl):
    x, y = numbered((2, 1, 3, 1, 2)), numbered((3, 1, 2, 1), first=-4)
    calling(impl.add, x, y).gives(x + y)
    calling(impl.multiply, y, x).gives(y * x)


def test_results_are_rounded_to_float32(impl):
    calling(impl.add, floats([0.1, 16777216]), floats([0.2, 1])).gives(floats([0.3, 16777216]))


@pytest.mark.parametrize(("a", "b"), NO_FIT)
def test_shapes_that_do_not_fit(impl, a, b):
    calling(impl.add, numbered(a), numbered(b)).raises(ValueError, str(a))
    calling(impl.multiply, numbered(a), numbered(b)).raises(ValueError, str(b))


def inputs_after_writing_to_the_results(impl, x, y):
    impl.add(x, y)[...] = -5
    impl.multiply(x, y)[...] = -5
    return x, y


def test_results_have_memory_of_their_own(impl):
    x, y = floats([[1, 2], [3, 4]]), floats([[0, 0], [1, 1]])
    calling(inputs_after_writing_to_the_results, impl, x, y).gives(([[1, 2], [3, 4]], [[0, 0], [1, 1]]))
    calling(inputs_after_writing_to_the_results, impl, floats([3]), floats(1)).gives(([3], floats(1)))


@given(full=SHAPES, ones=st.tuples(st.integers(0, 15), st.integers(0, 15)), cut=st.integers(0, 4))
def test_add_and_multiply_as_in_numpy(impl, full, ones, cut):
    a, b = (tuple(1 if mask >> axis & 1 else length for axis, length in enumerate(full)) for mask in ones)
    x, y = numbered(a), numbered(b[min(cut, len(b)) :], first=-2)
    calling(impl.add, x, y).gives(np.asarray(x + y))
    calling(impl.multiply, x, y).gives(np.asarray(x * y))
