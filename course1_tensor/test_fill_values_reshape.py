"""Exercise 1.2."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)
ORDERS = st.sampled_from("CF")
ROWS = (1, 2, 3, 4, 5, 6)  # [[1, 2, 3], [4, 5, 6]], row by row
COLUMNS = (1, 4, 2, 5, 3, 6)  # the same matrix, column by column


def floats(*numbers):
    return np.array(numbers, np.float32)


def test_indexes_row_major(impl):
    calling(impl.indexes, (2, 3)).gives([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)])


def test_indexes_column_major(impl):
    calling(impl.indexes, (2, 3), "F").gives([(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)])


def test_indexes_of_three_axes(impl):
    expected = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1), (0, 0, 2), (1, 0, 2)]
    calling(impl.indexes, (2, 1, 3), "F").gives(expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("shape", "expected"), [((), [()]), ((3,), [(0,), (1,), (2,)]), ((2, 0), []), ((0, 2), [])])
def test_indexes_of_few(impl, shape, expected, order):
    calling(impl.indexes, shape, order).gives(expected)


def test_values_row_major(impl):
    calling(impl.values, floats(*ROWS), (2, 3), (3, 1)).gives(floats(1, 2, 3, 4, 5, 6))


def test_values_in_the_other_order(impl):
    calling(impl.values, floats(*ROWS), (2, 3), (3, 1), "F").gives(floats(1, 4, 2, 5, 3, 6))


def test_values_that_lie_column_major(impl):
    calling(impl.values, floats(*COLUMNS), (2, 3), (1, 2)).gives(floats(1, 2, 3, 4, 5, 6))


def test_values_that_lie_and_are_read_column_major(impl):
    calling(impl.values, floats(*COLUMNS), (2, 3), (1, 2), "F").gives(floats(1, 4, 2, 5, 3, 6))


def test_values_of_a_part(impl):
    memory = floats(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110)  # the left of 2 x 6, every second column
    calling(impl.values, memory, (2, 2), (6, 2)).gives(floats(0, 20, 60, 80))


def test_values_of_no_axes(impl):
    calling(impl.values, floats(7), (), ()).gives(floats(7))


def test_values_of_nothing(impl):
    calling(impl.values, floats(), (0, 2), (2, 1)).gives(floats())


def memory_after_writing_to_the_values(impl, memory, shape, steps):
    impl.values(memory, shape, steps)[0] = -1
    return memory


def test_values_are_a_copy(impl):
    calling(memory_after_writing_to_the_values, impl, floats(1, 2, 3), (3,), (1,)).gives([1, 2, 3])


def test_fill_row_major(impl):
    memory = floats(0, 0, 0, 0, 0, 0)
    calling(impl.fill, memory, (2, 3), (3, 1), [1, 2, 3, 4, 5, 6]).fills(memory, [1, 2, 3, 4, 5, 6])


def test_fill_in_the_other_order(impl):
    memory = floats(0, 0, 0, 0, 0, 0)
    calling(impl.fill, memory, (2, 3), (3, 1), [1, 2, 3, 4, 5, 6], "F").fills(memory, [1, 3, 5, 2, 4, 6])


def test_fill_where_memory_is_column_major(impl):
    memory = floats(9, 9, 9, 9, 9, 9)
    calling(impl.fill, memory, (2, 3), (1, 2), [1, 2, 3, 4, 5, 6]).fills(memory, [1, 4, 2, 5, 3, 6])


def test_fill_with_one_number(impl):
    memory = floats(1, 2, 3, 4)
    calling(impl.fill, memory, (2, 2), (2, 1), -2.5).fills(memory, [-2.5, -2.5, -2.5, -2.5])


@pytest.mark.parametrize(("numbers", "expected"), [(7, [7, 1, 7, 3, 7, 5]), ([7, 8, 9], [7, 1, 8, 3, 9, 5])])
def test_fill_leaves_the_gaps(impl, numbers, expected):
    memory = floats(0, 1, 2, 3, 4, 5)
    calling(impl.fill, memory, (3,), (2,), numbers).fills(memory, expected)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 7, 12])
def test_fill_with_too_few_or_too_many(impl, length):
    calling(impl.fill, floats(*ROWS), (2, 3), (3, 1), [8] * length).raises(ValueError, str(length))


def memory_after_a_wrong_fill(impl, memory, numbers):
    try:
        impl.fill(memory, (2, 2), (2, 1), numbers)
    except ValueError:
        return memory
    return "no ValueError"


@pytest.mark.parametrize("length", [0, 1, 3, 5])
def test_fill_that_fails_writes_nothing(impl, length):
    calling(memory_after_a_wrong_fill, impl, floats(1, 2, 3, 4), [8] * length).gives([1, 2, 3, 4])


def test_reshape_row_major(impl):
    calling(impl.reshape, floats(*ROWS), (2, 3), (3, 1), (3, 2)).gives((floats(1, 2, 3, 4, 5, 6), (3, 2)))


def test_reshape_column_major(impl):
    calling(impl.reshape, floats(*ROWS), (2, 3), (3, 1), (3, 2), "F").gives((floats(1, 5, 4, 3, 2, 6), (3, 2)))


def test_reshape_of_memory_that_is_column_major(impl):
    calling(impl.reshape, floats(*COLUMNS), (2, 3), (1, 2), (3, 2)).gives((floats(1, 2, 3, 4, 5, 6), (3, 2)))


def test_reshape_of_a_part(impl):
    memory = floats(0, 10, 20, 30, 40, 50, 60, 70)  # columns 1 and 2 are not ours
    calling(impl.reshape, memory, (2, 2), (4, 3), (4,)).gives((floats(0, 30, 40, 70), (4,)))


@pytest.mark.parametrize(
    ("new_shape", "expected"), [((-1,), (6,)), ((3, -1), (3, 2)), ((-1, 1, 6), (1, 1, 6)), ((2, -1, 3), (2, 1, 3))]
)
def test_reshape_finds_the_length(impl, new_shape, expected):
    calling(impl.reshape, floats(*ROWS), (2, 3), (3, 1), new_shape).gives((floats(*ROWS), expected))


@pytest.mark.parametrize(
    "new_shape",
    [
        (5,),
        (2, 2),
        (3, 3),
        (7,),
        (),
        (0,),
        (6, 0),
        (4, -1),
        (12, -1),
        (-1, -1),
        (2, -1, -1),
        (-1, -1, 6),
        (-2, -3),
        (3, -2),
        (-6,),
        (-2, -1, -3),
        (-6, -1),
        (-2, 3, -1),
        (0, -1),
        (-1, 0),
    ],
)
def test_reshape_that_does_not_fit(impl, new_shape):
    calling(impl.reshape, floats(*ROWS), (2, 3), (3, 1), new_shape).raises(ValueError, str(new_shape))


def test_reshape_of_no_axes(impl):
    calling(impl.reshape, floats(7), (), (), (1, 1)).gives((floats(7), (1, 1)))
    calling(impl.reshape, floats(7), (1, 1), (1, 1), ()).gives((floats(7), ()))


def test_reshape_of_nothing(impl):
    calling(impl.reshape, floats(), (0, 2), (2, 1), (3, 0)).gives((floats(), (3, 0)))
    calling(impl.reshape, floats(), (0, 2), (2, 1), (3, -1)).gives((floats(), (3, 0)))
    calling(impl.reshape, floats(), (0, 2), (2, 1), (-1,), "F").gives((floats(), (0,)))


@pytest.mark.parametrize("new_shape", [(-1, 0), (0, -1), (2, 0, -1), (1,), (), (-2, 0), (0, -3), (-1, -1)])
def test_reshape_of_nothing_that_does_not_fit(impl, new_shape):
    calling(impl.reshape, floats(), (0, 2), (2, 1), new_shape).raises(ValueError, str(new_shape))


def memory_after_writing_to_the_new_one(impl, memory):
    new, _ = impl.reshape(memory, (3,), (1,), (1, 3))
    new[0] = -1
    return memory


def test_reshape_has_memory_of_its_own(impl):
    calling(memory_after_writing_to_the_new_one, impl, floats(1, 2, 3)).gives([1, 2, 3])


@pytest.mark.parametrize("order", ["K", "f", "c", "CF", ""])
@pytest.mark.parametrize(("shape", "steps"), [((3,), (1,)), ((), ()), ((1, 1), (1, 1)), ((2, 0), (0, 1))])
def test_unknown_order(impl, shape, steps, order):
    count = math.prod(shape)
    arguments = floats(*range(count)), shape, steps
    calling(impl.indexes, shape, order).raises(ValueError, order)
    calling(impl.values, *arguments, order).raises(ValueError, order)
    calling(impl.fill, *arguments, 5, order).raises(ValueError, order)
    calling(impl.fill, *arguments, [5] * count, order).raises(ValueError, order)
    calling(impl.reshape, *arguments, (1, count), order).raises(ValueError, order)


@given(shape=SHAPES, order=ORDERS)
def test_indexes_as_in_numpy(impl, shape, order):
    expected = [tuple(int(i) for i in np.unravel_index(place, shape, order)) for place in range(int(np.prod(shape)))]
    calling(impl.indexes, shape, order).gives(expected)


@given(shape=SHAPES, lying=ORDERS, order=ORDERS, data=st.data())
def test_reshape_as_in_numpy(impl, shape, lying, order, data):
    array = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    steps = tuple(step // 4 for step in np.array(array, order=lying).strides)
    new_shape = data.draw(st.permutations(shape)) + [1] * data.draw(st.integers(0, 1))
    expected = array.reshape(new_shape, order=order).ravel(), tuple(new_shape)
    calling(impl.reshape, array.ravel(lying), shape, steps, tuple(new_shape), order).gives(expected)


@given(shape=SHAPES, lying=ORDERS, order=ORDERS, gap=st.integers(1, 3))
def test_values_and_fill_as_in_numpy(impl, shape, lying, order, gap):
    size = math.prod(shape)
    array = np.arange(1, size + 1, dtype=np.float32).reshape(shape)
    steps = tuple(gap * step // 4 for step in np.array(array, order=lying).strides)
    memory = np.full(gap * size, -1, np.float32)
    memory[::gap] = array.ravel(lying)
    calling(impl.values, memory, shape, steps, order).gives(array.ravel(order))
    filled = memory.copy()
    filled[::gap] = (array - 50).ravel(lying)
    calling(impl.fill, memory, shape, steps, (array - 50).ravel(order).tolist(), order).fills(memory, filled)
