"""Exercise 5.11."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.layers.operators.rms_norm import rms_norm as engine_rms_norm
from kuiper.layers.operators.rotary import rotary as engine_rotary

QUARTER = np.pi / 2


def counting(*shape, start=1):
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


def test_rms_norm(impl):
    calling(impl.rms_norm, np.float32([[1, 7]]), np.float32([1, 1]), 0.0).gives(
        np.float32([[0.2, 1.4]]), tolerance=1e-6
    )


def test_rms_norm_with_weight(impl):
    calling(impl.rms_norm, np.float32([[1, 7]]), np.float32([5, 10]), 0.0).gives(np.float32([[1, 14]]), tolerance=1e-6)


def test_rms_norm_of_each_row(impl):
    x = np.float32([[1, 7, 1, 7], [2, -2, 2, -2], [0, 0, 0, 8]])
    wanted = np.float32([[0.2, 2.8, 0.6, 5.6], [1, -2, 3, -4], [0, 0, 0, 8]])
    calling(impl.rms_norm, x, np.float32([1, 2, 3, 4]), 0.0).gives(wanted, tolerance=1e-6)


def test_rms_norm_keeps_the_mean(impl):
    calling(impl.rms_norm, np.float32([[3, 3, 3]]), np.float32([1, 2, 4]), 0.0).gives(
        np.float32([[1, 2, 4]]), tolerance=1e-6
    )


def test_rms_norm_eps_stands_below_the_root(impl):
    calling(impl.rms_norm, np.float32([[4, 0]]), np.float32([1, 1]), 8.0).gives(np.float32([[1, 0]]), tolerance=1e-6)


def test_rms_norm_of_zeros(impl):
    calling(impl.rms_norm, np.zeros((2, 3), np.float32), np.float32([1, 2, 3]), 1e-5).gives(
        np.zeros((2, 3), np.float32)
    )


def test_rms_norm_of_small_numbers(impl):
    """The mean of the squares is 1e-6, so eps decides: the root of 1e-6 + 3e-6 is 0.002."""
    calling(impl.rms_norm, np.float32([[0.001, -0.001]]), np.float32([1, 1]), 3e-6).gives(
        np.float32([[0.5, -0.5]]), tolerance=1e-6
    )


def test_rms_norm_of_one_axis(impl):
    calling(impl.rms_norm, np.float32([1, 7]), np.float32([5, 5]), 0.0).gives(np.float32([1, 7]), tolerance=1e-6)


def test_rms_norm_of_three_axes(impl):
    x = np.float32([[[1, 7], [3, 3]], [[0, 8], [-5, 5]], [[14, 2], [6, 0]]])
    root = np.float32(np.sqrt(2))
    wanted = np.float32([[[0.2, 2.8], [1, 2]], [[0, 2 * root], [-1, 2]], [[1.4, 0.4], [root, 0]]])
    calling(impl.rms_norm, x, np.float32([1, 2]), 0.0).gives(wanted, tolerance=1e-6)


def test_rms_norm_of_rows_far_apart(impl):
    x = np.float32([[1e6, 7e6], [1e-3, 7e-3]])
    calling(impl.rms_norm, x, np.float32([5, 5]), 0.0).gives(np.float32([[1, 7], [1, 7]]), tolerance=1e-6)


def test_rms_norm_of_a_view(impl):
    x = np.repeat(np.float32([[1, 3], [7, 3]]), 2, axis=0)[::2].T
    calling(impl.rms_norm, x, np.float32([5, 10]), 0.0).gives(np.float32([[1, 14], [5, 10]]), tolerance=1e-6)


@pytest.mark.parametrize("shape", [(5,), (3, 8), (2, 3, 7), (2, 1, 3, 160)])
def test_rms_norm_as_in_the_engine(impl, shape):
    numbers = np.random.default_rng(8)
    x, weight = numbers.normal(1, 4, shape).astype(np.float32), numbers.normal(0, 2, shape[-1]).astype(np.float32)
    calling(impl.rms_norm, x, weight, 1e-2).gives(engine_rms_norm(x, shape[-1:], weight, 1e-2), tolerance=1e-5)


def test_rotary_angles(impl):
    cosines, sines = np.float32([[1], [0], [-1], [0]]), np.float32([[0], [1], [0], [-1]])
    calling(impl.rotary_angles, np.arange(4), np.float32([QUARTER])).gives((cosines, sines), tolerance=1e-6)


def test_rotary_angles_of_several_pairs(impl):
    """A row for each position, a column for each pair."""
    cosines = np.float32([[1, 1, 1], [0, -1, 1]])
    sines = np.float32([[0, 0, 0], [1, 0, 0]])
    calling(impl.rotary_angles, np.arange(2), np.float32([QUARTER, 2 * QUARTER, 0])).gives(
        (cosines, sines), tolerance=1e-6
    )


def test_rotary_angles_begin_at_any_position(impl):
    cosines, sines = np.float32([[0], [1], [0]]), np.float32([[-1], [0], [1]])
    calling(impl.rotary_angles, np.array([3, 4, 5]), np.float32([QUARTER])).gives((cosines, sines), tolerance=1e-6)


def test_rotary_angles_of_positions_in_any_order(impl):
    cosines, sines = np.float32([[-1], [1], [0]]), np.float32([[0], [0], [-1]])
    calling(impl.rotary_angles, np.array([2, 0, 7]), np.float32([QUARTER])).gives((cosines, sines), tolerance=1e-6)


def test_rotary_angles_are_in_radians(impl):
    cosines, sines = np.cos([[0.5], [1.0]]).astype(np.float32), np.sin([[0.5], [1.0]]).astype(np.float32)
    calling(impl.rotary_angles, np.array([1, 2]), np.float32([0.5])).gives((cosines, sines), tolerance=1e-6)


def test_rotary_angles_with_scale(impl):
    cosines, sines = np.float32([[3], [0]]), np.float32([[0], [3]])
    calling(impl.rotary_angles, np.arange(2), np.float32([QUARTER]), 3.0).gives((cosines, sines), tolerance=1e-6)
    calling(impl.rotary_angles, np.arange(2), np.float32([QUARTER]), scale=3.0).gives((cosines, sines), tolerance=1e-6)


def test_rotary_angles_are_products_in_float32(impl):
    """At a hundred thousand, neighbours in float32 are 1/128 apart, and so are the angles."""
    positions, frequencies = np.array([99_991, 100_003]), np.float32([0.7, 1.0, 0.3])
    angles = (positions[:, None].astype(np.float32) * frequencies).astype(np.float64)
    wanted = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    calling(impl.rotary_angles, positions, frequencies).gives(wanted, tolerance=1e-5)


def test_rotary_angles_of_one_position(impl):
    cosines, sines = np.float32([[0, -1]]), np.float32([[1, 0]])
    calling(impl.rotary_angles, np.array([1]), np.float32([QUARTER, 2 * QUARTER])).gives(
        (cosines, sines), tolerance=1e-6
    )


def test_rotate(impl):
    x = np.float32([1, 2]).reshape(1, 1, 1, 2)
    calling(impl.rotate, x, np.float32([[0]]), np.float32([[1]])).gives(np.float32([-2, 1]).reshape(1, 1, 1, 2))


def test_rotate_by_nothing(impl):
    x = counting(1, 2, 3, 4)
    calling(impl.rotate, x, np.ones((3, 2), np.float32), np.zeros((3, 2), np.float32)).gives(x)


def test_rotate_two_pairs(impl):
    x = np.float32([1, 2, 3, 4]).reshape(1, 1, 1, 4)
    calling(impl.rotate, x, np.float32([[0, 2]]), np.float32([[1, 3]])).gives(
        np.float32([-3, -8, 1, 14]).reshape(1, 1, 1, 4)
    )


def test_rotate_leaves_the_rest(impl):
    x = np.float32([1, 2, 3, 4, 5, 6]).reshape(1, 1, 1, 6)
    calling(impl.rotate, x, np.float32([[0]]), np.float32([[1]])).gives(
        np.float32([-2, 1, 3, 4, 5, 6]).reshape(1, 1, 1, 6)
    )


def test_rotate_each_position_by_its_own_angle(impl):
    x = np.float32([[1, 2], [1, 2], [1, 2]]).reshape(1, 1, 3, 2)
    calling(impl.rotate, x, np.float32([[1], [0], [-1]]), np.float32([[0], [1], [0]])).gives(
        np.float32([[1, 2], [-2, 1], [-1, -2]]).reshape(1, 1, 3, 2)
    )


def test_rotate_all_heads_of_a_position_alike(impl):
    """Three heads and three positions: anyone who takes one axis for the other gets no error, only other numbers."""
    x = np.tile(np.float32([1, 2]), (2, 3, 3, 1)) * np.float32([1, 10, 100]).reshape(3, 1, 1)
    of_one = np.float32([[1, 2], [-2, 1], [-1, -2]])
    wanted = np.tile(of_one, (2, 3, 1, 1)) * np.float32([1, 10, 100]).reshape(3, 1, 1)
    calling(impl.rotate, x, np.float32([[1], [0], [-1]]), np.float32([[0], [1], [0]])).gives(wanted)


def test_rotate_several_texts(impl):
    x = counting(2, 1, 2, 2)
    calling(impl.rotate, x, np.float32([[1], [0]]), np.float32([[0], [1]])).gives(
        np.float32([[[[1, 2], [-4, 3]]], [[[5, 6], [-8, 7]]]])
    )


def test_rotate_keeps_the_length_of_each_pair(impl):
    x, angle = counting(1, 2, 2, 4), np.float32([[0.3, 1.1], [2.0, 2.9]])
    lengths = np.sqrt(x[..., :2] ** 2 + x[..., 2:] ** 2)
    calling(lengths_behind, impl, x, np.cos(angle), np.sin(angle)).gives(lengths, tolerance=1e-5)


def lengths_behind(impl, x, cosines, sines):
    turned = impl.rotate(x, cosines, sines)
    return np.sqrt(turned[..., :2] ** 2 + turned[..., 2:4] ** 2)


def test_rotate_products_depend_on_the_distance_alone(impl):
    """The same query and the same key, five apart, at the beginning of a text and late in it."""
    query, key = np.float32([1, -2, 3, 4, 7, 1]), np.float32([2, 1, -1, 5, 2, 3])
    calling(product_at, impl, query, key, 0, 5).gives(product_of(query, key, 5), tolerance=1e-5)
    calling(product_at, impl, query, key, 100, 105).gives(product_of(query, key, 5), tolerance=1e-4)


def product_at(impl, query, key, first, second):
    frequencies = np.float32([1.0, 0.25, 0.0625])

    def turned(x, position):
        return impl.rotate(x.reshape(1, 1, 1, 6), *impl.rotary_angles(np.array([position]), frequencies)).ravel()

    return float(turned(query, second) @ turned(key, first))


def product_of(query, key, distance):
    """By hand: only the query is turned, by the distance."""
    total = 0.0
    for i, frequency in enumerate((1.0, 0.25, 0.0625)):
        first, second = float(query[i]), float(query[3 + i])
        c, s = np.cos(distance * frequency), np.sin(distance * frequency)
        total += (first * c - second * s) * float(key[i]) + (second * c + first * s) * float(key[3 + i])
    return float(total)


def test_rotate_a_view(impl):
    """Queries come out of a linear layer as (b, s, h, d), and their axes are exchanged: nothing lies in order."""
    x = counting(2, 3, 2, 5).transpose(0, 2, 1, 3)
    angle = np.float32([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    cosines, sines = np.cos(angle), np.sin(angle)
    calling(impl.rotate, x, cosines, sines).gives(engine_rotary(x, cosines, sines), tolerance=1e-6)


@pytest.mark.parametrize(
    ("b", "h", "s", "d", "r"), [(2, 3, 4, 10, 5), (1, 2, 3, 7, 2), (3, 1, 1, 8, 4), (1, 4, 2, 3, 0)]
)
def test_rotate_as_in_the_engine(impl, b, h, s, d, r):
    numbers = np.random.default_rng(5)
    x, angle = numbers.normal(0, 3, (b, h, s, d)).astype(np.float32), numbers.uniform(0, 6, (s, r)).astype(np.float32)
    cosines, sines = np.cos(angle), np.sin(angle)
    calling(impl.rotate, x, cosines, sines).gives(engine_rotary(x, cosines, sines), tolerance=1e-6)
