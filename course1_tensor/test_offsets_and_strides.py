"""Exercise 1.1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

SHAPES = st.lists(st.integers(0, 5), max_size=5).map(tuple)


def test_strides_of_a_matrix(impl):
    calling(impl.strides, (2, 3)).gives((3, 1))


def test_strides_of_three_axes(impl):
    calling(impl.strides, (2, 3, 4)).gives((12, 4, 1))


def test_strides_column_major(impl):
    calling(impl.strides, (2, 3, 4), "F").gives((1, 2, 6))


def test_strides_of_a_vector(impl):
    calling(impl.strides, (7,), "F").gives((1,))


@pytest.mark.parametrize("order", ["C", "F"])
def test_strides_of_no_axes(impl, order):
    calling(impl.strides, (), order).gives(())


def test_strides_of_an_axis_of_length_1(impl):
    calling(impl.strides, (2, 1, 3)).gives((3, 3, 1))
    calling(impl.strides, (2, 1, 3), "F").gives((1, 2, 2))
    calling(impl.strides, (1, 1)).gives((1, 1))


def test_strides_of_an_axis_of_length_0(impl):
    calling(impl.strides, (2, 0, 3)).gives((0, 3, 1))
    calling(impl.strides, (2, 0, 3), "F").gives((1, 2, 0))
    calling(impl.strides, (0,)).gives((1,))


@pytest.mark.parametrize("order", ["K", "f", "c", "CF", "C ", ""])
@pytest.mark.parametrize("shape", [(2, 3), (7,), (), (0, 2)])
def test_strides_unknown_order(impl, shape, order):
    calling(impl.strides, shape, order).raises(ValueError, order)


def test_offset_row_major(impl):
    calling(impl.offset, (1, 0, 2), (2, 3, 4), (12, 4, 1)).gives(14)


def test_offset_column_major(impl):
    calling(impl.offset, (1, 0, 2), (2, 3, 4), (1, 2, 6)).gives(13)


def test_offset_negative_index(impl):
    calling(impl.offset, (-1, 0, -3), (2, 3, 4), (12, 4, 1)).gives(13)


def test_offset_of_the_first_counted_from_the_end(impl):
    calling(impl.offset, (-2, -3, -4), (2, 3, 4), (12, 4, 1)).gives(0)


def test_offset_with_gaps(impl):
    calling(impl.offset, (2, -1), (3, 4), (100, 10)).gives(230)


def test_offset_of_a_repeated_row(impl):
    calling(impl.offset, (2, 1), (3, 4), (0, 1)).gives(1)


def test_offset_of_no_axes(impl):
    calling(impl.offset, (), (), ()).gives(0)


def test_offset_against_the_order_of_memory(impl):
    calling(impl.offset, (1, -1), (3, 4), (-10, 2)).gives(-4)


@pytest.mark.parametrize("index", [0, -1])
def test_offset_in_an_axis_of_length_0(impl, index):
    calling(impl.offset, (1, index), (2, 0), (3, 1)).raises(IndexError, str(index))


@pytest.mark.parametrize("index", [(0, 3), (-3, 0), (2, 0), (0, -4), (17, 0), (0, -15)])
def test_offset_outside(impl, index):
    outside = next(str(i) for i in index if i)
    calling(impl.offset, index, (2, 3), (3, 1)).raises(IndexError, outside)


@given(shape=SHAPES, order=st.sampled_from("CF"))
def test_strides_of_any_shape(impl, shape, order):
    faster = [shape[axis + 1 :] if order == "C" else shape[:axis] for axis in range(len(shape))]
    calling(impl.strides, shape, order).gives(tuple(math.prod(lengths) for lengths in faster))


@given(shape=st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple), data=st.data())
def test_offset_as_in_numpy(impl, shape, data):
    index = tuple(data.draw(st.integers(-length, length - 1)) for length in shape)
    order = data.draw(st.sampled_from("CF"))
    places = np.arange(math.prod(shape)).reshape(shape, order=order)
    steps = tuple(step // places.itemsize for step in places.strides)
    calling(impl.offset, index, shape, steps).gives(int(places[index]))
