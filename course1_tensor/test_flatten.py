"""Exercise 1.4, which is homework in the KuiperInfer course (kuiperdatawhale), too."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

OUTSIDE = [(4, -1), (0, 4), (-5, -1), (0, -5), (7, 9), (-9, 2)]
BACKWARDS = [(2, 1), (3, 0), (-1, 0), (-1, -2), (2, -3), (-2, 1)]


def numbered(*shape):
    """1, 2, 3 ... under a shape."""
    return np.arange(1, math.prod(shape) + 1, dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 2, (2, 12, 5)),
        (0, 1, (6, 4, 5)),
        (2, 3, (2, 3, 20)),
        (0, 3, (120,)),
        (1, 3, (2, 60)),
        (0, -1, (120,)),
        (1, -1, (2, 60)),
        (-3, -2, (2, 12, 5)),
        (-4, 1, (6, 4, 5)),
        (-4, -4, (2, 3, 4, 5)),
        (1, -2, (2, 12, 5)),
        (2, 2, (2, 3, 4, 5)),
        (3, -1, (2, 3, 4, 5)),
    ],
)
def test_flattened_shape(impl, start, end, expected):
    calling(impl.flattened_shape, (2, 3, 4, 5), start, end).gives(expected)


def test_flattened_shape_from_the_first_to_the_last(impl):
    calling(impl.flattened_shape, (2, 3, 4)).gives((24,))


def test_flattened_shape_to_the_last(impl):
    calling(impl.flattened_shape, (2, 3, 4), 1).gives((2, 12))
    calling(impl.flattened_shape, (2, 3, 4), end=1).gives((6, 4))


def test_flattened_shape_of_one_axis(impl):
    calling(impl.flattened_shape, (7,)).gives((7,))


@pytest.mark.parametrize("axes", [(), (0, 0), (0, -1), (-1, 0)])
def test_flattened_shape_of_no_axes(impl, axes):
    calling(impl.flattened_shape, (), *axes).gives((1,))


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(1, 2, (2, 0, 5)), (0, -1, (0,)), (0, 1, (6, 0, 5)), (2, 3, (2, 3, 0))]
)
def test_flattened_shape_with_a_length_of_0(impl, start, end, expected):
    calling(impl.flattened_shape, (2, 3, 0, 5), start, end).gives(expected)


def test_flattened_shape_of_very_long_axes(impl):
    calling(impl.flattened_shape, (2, 2**40, 2**40, 3), 1, 2).gives((2, 2**80, 3))


@given(shape=st.lists(st.integers(0, 9), min_size=1, max_size=6).map(tuple), data=st.data())
def test_flattened_shape_of_any_axes(impl, shape, data):
    rank = len(shape)
    start, end = (data.draw(st.integers(-rank - 2, rank + 1)) for _ in range(2))
    call = calling(impl.flattened_shape, shape, start, end)
    if -rank <= start < rank and -rank <= end < rank and start % rank <= end % rank:
        first, behind = start % rank, end % rank + 1
        call.gives((*shape[:first], math.prod(shape[first:behind]), *shape[behind:]))
    else:
        call.raises(ValueError, str(start))


@pytest.mark.parametrize(("start", "end"), OUTSIDE + BACKWARDS)
def test_flattened_shape_of_wrong_axes(impl, start, end):
    calling(impl.flattened_shape, (2, 3, 4, 5), start, end).raises(ValueError, str(start))
    calling(impl.flattened_shape, (2, 3, 4, 5), start, end).raises(ValueError, str(end))


@pytest.mark.parametrize("axes", [(1, 1), (0, 1), (-2, 0)])
def test_flattened_shape_of_no_axes_has_no_axis_1(impl, axes):
    calling(impl.flattened_shape, (), *axes).raises(ValueError, str(axes[0]))


def test_tensor_flatten(impl):
    calling(impl.flatten, numbered(2, 3)).gives(np.array([1, 2, 3, 4, 5, 6], np.float32))


def test_tensor_flatten_in_the_middle(impl):
    expected = [[[1, 2], [3, 4], [5, 6], [7, 8]], [[9, 10], [11, 12], [13, 14], [15, 16]]]
    calling(impl.flatten, numbered(2, 2, 2, 2), 1, 2).gives(np.array(expected, np.float32))


def test_tensor_flatten_the_last_axes(impl):
    calling(impl.flatten, numbered(2, 3, 2), 1).gives([[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]])


def test_tensor_flatten_the_first_axes(impl):
    calling(impl.flatten, numbered(1, 3, 2), 0, -2).gives([[1, 2], [3, 4], [5, 6]])


def test_tensor_flatten_what_lies_column_major(impl):
    calling(impl.flatten, np.array(numbered(2, 3), order="F")).gives([1, 2, 3, 4, 5, 6])


def test_tensor_flatten_with_gaps(impl):
    calling(impl.flatten, numbered(2, 3, 4)[:, ::2, ::3], 1).gives([[1, 4, 9, 12], [13, 16, 21, 24]])


def test_tensor_flatten_one_number(impl):
    calling(impl.flatten, np.array(7, np.float32)).gives(np.array([7], np.float32))


def test_tensor_flatten_nothing(impl):
    calling(impl.flatten, np.zeros((2, 0, 3), np.float32), 1).gives(np.zeros((2, 0), np.float32))
    calling(impl.flatten, np.zeros((2, 3, 0), np.float32), 0, 1).gives(np.zeros((6, 0), np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.uint8, np.bool_])
def test_tensor_flatten_keeps_the_dtype(impl, dtype):
    calling(impl.flatten, np.array([[1, 0], [0, 1]], dtype)).gives(np.array([1, 0, 0, 1], dtype))


def x_after_writing_to_the_result(impl, x, start, end):
    x = x.copy()
    impl.flatten(x, start, end)[...] = -1
    return x


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 0), (0, -1), (1, 1)])
def test_tensor_flatten_copies_nothing(impl, start, end):
    calling(x_after_writing_to_the_result, impl, numbered(2, 2), start, end).gives(np.full_like(numbered(2, 2), -1))


@pytest.mark.parametrize(("start", "end"), OUTSIDE + BACKWARDS)
def test_tensor_flatten_wrong_axes(impl, start, end):
    calling(impl.flatten, numbered(2, 1, 2, 3), start, end).raises(ValueError, str(start))
    calling(impl.flatten, numbered(2, 1, 2, 3), start, end).raises(ValueError, str(end))


@given(shape=st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple), data=st.data())
def test_tensor_flatten_as_in_numpy(impl, shape, data):
    start = data.draw(st.integers(0, len(shape) - 1))
    end = data.draw(st.integers(start, len(shape) - 1))
    expected = numbered(*shape).reshape(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])
    calling(impl.flatten, numbered(*shape), start - len(shape), end).gives(expected)
