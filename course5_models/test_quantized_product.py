"""Exercise 5.14. How many numbers one turn of the loop takes depends on the machine, so sizes are counted in turns."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.graph import quantized_weight


def array(*numbers):
    return np.array(numbers, np.float32)


def whole(*numbers):
    return np.array(numbers, np.int8)


def room(length):
    """Old numbers: none of them may be left, or be added to."""
    return np.full(length, 99, np.float32)


def some(*shape, seed=1):
    """Integers from -3 to 3 in no order that a wrong place could meet again."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def plainly(weight, scales, x):
    """What comes out; with such small integers every order of the additions gives the same."""
    return (weight.astype(np.float64) @ x * scales).astype(np.float32)


def in_file(impl):
    """The numbers of one turn of the loop, as the file says."""
    return int(impl.STEP_SIZE)


def step_size(impl):
    return calling(in_file, impl).answer()


def test_quantize(impl):
    calling(impl.quantize, array([127, -5, 2, 0], [64, 127, -3, 1])).gives(
        (whole([127, -5, 2, 0], [64, 127, -3, 1]), array(1, 1))
    )


def test_quantize_each_row_has_its_scale(impl):
    weight = array([254, -10, 4], [1270, 100, -30], [63.5, 0.5, -4])
    calling(impl.quantize, weight).gives((whole([127, -5, 2], [127, 10, -3], [127, 1, -8]), array(2, 10, 0.5)))


def test_quantize_a_row_whose_largest_number_is_negative(impl):
    calling(impl.quantize, array([-254, 10, 100], [5, -127, 7])).gives(
        (whole([-127, 5, 50], [5, -127, 7]), array(2, 1))
    )


def test_quantize_only_negative_numbers(impl):
    calling(impl.quantize, array([-127, -5], [-2, -254])).gives((whole([-127, -5], [-1, -127]), array(1, 2)))


def test_quantize_only_positive_numbers(impl):
    calling(impl.quantize, array([127, 100], [254, 20])).gives((whole([127, 100], [127, 10]), array(1, 2)))


def test_quantize_rounds_to_the_nearest(impl):
    calling(impl.quantize, array([127, 2.75, 2.25, -2.75, -2.25])).gives((whole([127, 3, 2, -3, -2]), array(1)))


def test_quantize_rounds_halves_to_the_even_one(impl):
    calling(impl.quantize, array([127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5])).gives(
        (whole([127, 0, 2, 2, 0, -2, -2]), array(1))
    )


def test_quantize_small_numbers(impl):
    """All below 1, so that nothing is left of them if they are rounded first."""
    calling(impl.quantize, array([127, -64, 3, 1]) / 1024).gives((whole([127, -64, 3, 1]), array(1 / 1024)))


def test_quantize_a_row_of_zeros(impl):
    calling(impl.quantize, array([0, 0, 0], [0, 127, -1])).gives((whole([0, 0, 0], [0, 127, -1]), array(0, 1)))


def test_quantize_zero_stays_zero(impl):
    calling(impl.quantize, array([0, 254, 100], [254, 0, 100], [0, -254, 2])).gives(
        (whole([0, 127, 50], [127, 0, 50], [0, -127, 1]), array(2, 2, 2))
    )


def test_quantize_one_column(impl):
    calling(impl.quantize, array([127], [-254], [0])).gives((whole([127], [-127], [0]), array(1, 2, 0)))


def test_quantize_more_rows_than_columns(impl):
    weight = array([127, 1], [2, 254], [127, 3], [-508, 4], [127, -127])
    expected = whole([127, 1], [1, 127], [127, 3], [-127, 1], [127, -127])
    calling(impl.quantize, weight).gives((expected, array(1, 2, 1, 4, 1)))


def test_quantize_no_rows(impl):
    calling(impl.quantize, np.empty((0, 3), np.float32)).gives((np.empty((0, 3), np.int8), np.empty(0, np.float32)))


@given(rows=st.integers(1, 5), columns=st.integers(1, 40), seed=st.integers(0, 99))
def test_quantize_as_in_kuiper(impl, rows, columns, seed):
    weight = np.random.default_rng(seed).standard_normal((rows, columns), np.float32)
    expected = quantized_weight.quantize(weight, bits=8)
    calling(impl.quantize, weight).gives((expected.data, expected.scales))


def test_product(impl):
    out = room(2)
    calling(impl.product, whole([1, 2, 3], [-4, 5, 6]), array(1, 10), array(100, 10, 1), out).fills(out, [123, -3440])


def test_product_each_row_has_its_scale(impl):
    out = room(3)
    calling(impl.product, whole([1, 2], [1, 2], [1, 2]), array(0.5, 3, -2), array(3, 4), out).fills(out, [5.5, 33, -22])


def test_product_of_fractions(impl):
    out = room(2)
    calling(impl.product, whole([3, -5], [1, 2]), array(1, 0.25), array(0.5, 0.125), out).fills(out, [0.875, 0.1875])


def test_product_of_the_largest_numbers(impl):
    """Neither a product nor a sum fits into 8 bits; the sign of a byte must stay."""
    out = room(3)
    weight = whole([127, 127, 127], [-127, -127, -127], [-128, 127, -1])
    calling(impl.product, weight, array(1, 1, 1), array(127, 100, 3), out).fills(out, [29210, -29210, -3559])


def test_product_of_one_number(impl):
    out = room(1)
    calling(impl.product, whole([-7]), array(2), array(3), out).fills(out, [-42])


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_product_of_whole_turns(impl, turns):
    length = turns * step_size(impl)
    out, weight, scales, x = room(2), some(2, length), array(1, 2), some(length, seed=2)
    calling(impl.product, weight.astype(np.int8), scales, x, out).fills(out, plainly(weight, scales, x))


@pytest.mark.parametrize("columns", [*range(2, 20), 31, 32, 33, 63, 64, 65, 66, 127, 129, 131])
def test_product_of_columns(impl, columns):
    out, weight, scales, x = room(3), some(3, columns), array(1, 2, 4), some(columns, seed=2)
    calling(impl.product, weight.astype(np.int8), scales, x, out).fills(out, plainly(weight, scales, x))


@pytest.mark.parametrize(("turns", "more"), [(1, -1), (1, 1), (2, -1), (2, 1), (3, 2), (5, -2)])
def test_product_of_turns_and_some_columns(impl, turns, more):
    columns = turns * step_size(impl) + more
    out, weight, scales, x = room(4), some(4, columns), array(1, 2, 4, 8), some(columns, seed=2)
    calling(impl.product, weight.astype(np.int8), scales, x, out).fills(out, plainly(weight, scales, x))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 8, 9, 17])
def test_product_of_rows(impl, rows):
    columns = step_size(impl) + 3
    out, weight, x = room(rows), some(rows, columns), some(columns, seed=2)
    scales = np.arange(1, rows + 1, dtype=np.float32)
    calling(impl.product, weight.astype(np.int8), scales, x, out).fills(out, plainly(weight, scales, x))


@pytest.mark.parametrize("place", range(7))
def test_product_uses_each_number_once(impl, place):
    """A single number of x that is not 0, at the edges of turns and of vectors."""
    step = step_size(impl)
    at = (0, 1, step // 4 - 1, step - 1, step, 2 * step - 1, 2 * step)[place]
    weight, x, out = some(2, 2 * step + 1), np.zeros(2 * step + 1, np.float32), room(2)
    weight[:, at] = [5, -6]
    x[at] = 2
    calling(impl.product, weight.astype(np.int8), array(1, 10), x, out).fills(out, [10, -120])


def test_product_of_many_columns(impl):
    """The sum of a row is far beyond 16 bits, yet float32 holds it without an error."""
    out, weight = room(2), np.full((2, 3001), 127, np.int8)
    weight[1] = -127
    calling(impl.product, weight, array(1, 1), np.full(3001, 3, np.float32), out).fills(out, [1143381, -1143381])


def test_product_without_columns(impl):
    out = room(3)
    calling(impl.product, np.empty((3, 0), np.int8), array(1, 2, 3), array(), out).fills(out, array(0, 0, 0))


def test_product_without_rows(impl):
    out = room(0)
    calling(impl.product, np.empty((0, 5), np.int8), array(), array(1, 2, 3, 4, 5), out).fills(out, array())


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_product_with_special_numbers(impl, special):
    """0 times infinity is not a number; a number that is not one must reach every row."""
    step = step_size(impl)
    weight, x, out = some(3, step + 2), some(step + 2, seed=2), room(3)
    x[step - 1], weight[:, step - 1] = special, [0, 2, -3]
    expected = [np.nan, 2 * special, -3 * special]
    calling(impl.product, weight.astype(np.int8), array(1, 1, 2), x, out).fills(out, expected)


def rows_of_a_larger_matrix(impl, weight, scales, x):
    """Rows 1 to 3 of five, and what lies around the result stays as it was."""
    out = np.full(7, 99, np.float32)
    impl.product(weight[1:4], scales[1:4], x, out[2:5])
    return out


def test_product_of_rows_of_a_larger_matrix(impl):
    columns = step_size(impl) + 1
    weight, x = some(5, columns), some(columns, seed=2)
    scales, expected = array(1, 2, 3, 4, 5), np.full(7, 99, np.float32)
    expected[2:5] = plainly(weight[1:4], scales[1:4], x)
    calling(rows_of_a_larger_matrix, impl, weight.astype(np.int8), scales, x).gives(expected)


@given(rows=st.integers(1, 9), columns=st.integers(1, 300), seed=st.integers(0, 99))
def test_product_as_in_numpy(impl, rows, columns, seed):
    random = np.random.default_rng(seed)
    weight = random.integers(-127, 128, (rows, columns), np.int8)
    x, scales = (random.integers(-8, 9, length).astype(np.float32) / 4 for length in (columns, rows))
    out = room(rows)
    calling(impl.product, weight, scales, x, out).fills(out, plainly(weight, scales, x))


def quantized_product(impl, weight, x):
    numbers, scales = impl.quantize(weight)
    out = np.full(len(weight), 99, np.float32)
    impl.product(numbers, scales, x, out)
    return out


def test_product_of_a_quantised_matrix_is_nearly_exact(impl):
    """Each weight is wrong by half a scale at most: less than 1 part in 250 of the row's largest weight."""
    random = np.random.default_rng(7)
    weight, x = random.standard_normal((50, 400), np.float32), random.standard_normal(400, np.float32)
    calling(quantized_product, impl, weight, x).gives(weight @ x, tolerance=0.02)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass. Weights count, which come from memory."""
    from kuiper.course.peak import MEMORY
    from kuiper.machine.stopwatch import best_seconds

    columns = 4096
    weight = np.full((MEMORY // columns, columns), 3, np.int8)
    x, scales, out = np.ones(columns, np.float32), np.ones(len(weight), np.float32), np.empty(len(weight), np.float32)
    few = len(weight) // 128  # a loop that still runs Python takes seconds for all of them
    seconds = best_seconds(lambda: impl.product(weight[:few], scales[:few], x, out[:few]))
    if seconds < 0.01:
        few, seconds = len(weight), best_seconds(lambda: impl.product(weight, scales, x, out))
    return seconds, few * columns, "B", "of the bandwidth"
