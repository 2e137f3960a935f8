"""Exercise 1.1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.course import calling

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def test_strides_of_a_matrix(impl):
    calling(impl.strides, (2, 3)).gives((3, 1))


def test_strides_of_three_axes(impl):
    calling(impl.strides, (2, 3, 4)).gives((12, 4, 1))


def test_strides_column_major(impl):
    calling(impl.strides, (2, 3, 4), "F").gives((1, 2, 6))


def test_strides_of_a_vector(impl):
    calling(impl.strides, (7,), "F").gives((1,))


def test_strides_of_no_axes(impl):
    calling(impl.strides, ()).gives(())


@pytest.mark.parametrize("order", ["K", "f", "CF"])
def test_strides_unknown_order(impl, order):
    calling(impl.strides, (2, 3), order).raises(ValueError, order)


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


@pytest.mark.parametrize("index", [(0, 3), (-3, 0), (2, 0), (0, -4), (17, 0), (0, -15)])
def test_offset_outside(impl, index):
    outside = next(str(i) for i in index if i)
    calling(impl.offset, index, (2, 3), (3, 1)).raises(IndexError, outside)


@given(shape=SHAPES, order=st.sampled_from("CF"))
def test_strides_as_in_numpy(impl, shape, order):
    array = np.empty(shape, np.int8, order=order)
    wanted = tuple(step if length > 1 else None for step, length in zip(array.strides, shape, strict=True))
    calling(steps_that_matter, impl, shape, order).gives(wanted)


def steps_that_matter(impl, shape, order):
    """Along an axis of length 1 any stride would do."""
    return tuple(step if length > 1 else None for step, length in zip(impl.strides(shape, order), shape, strict=True))
