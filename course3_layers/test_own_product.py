"""Exercise 3.13. Integers, so that no order of the additions changes a digit."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference.conv2d import conv2d as plain_conv2d
from kuiper.layers.window import Window


def whole(*shape, seed=1):
    """Small integers in no order that a wrong place could meet again."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def counting(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def multiplications(impl, name, *args):
    """How many multiplications the student's function leaves to his product."""
    function = getattr(impl, name)
    names, seen = function.__globals__, []
    product = names["product"]

    def counted(a, b):
        seen.append(a.shape[0] * a.shape[1] * b.shape[1])
        return product(a, b)

    names["product"] = counted
    try:
        function(*args)
    finally:
        names["product"] = product
    return sum(seen)


def test_product(impl):
    a, b = np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[10, 1], [100, -1]])
    calling(impl.product, a, b).gives(np.float32([[210, -1], [430, -1], [650, -1]]))


def test_product_of_one_number(impl):
    calling(impl.product, np.float32([[3]]), np.float32([[5]])).gives(np.float32([[15]]))


@pytest.mark.parametrize(("m", "k", "n"), [(1, 5, 200), (50, 3, 1), (48, 4, 64), (49, 7, 65), (47, 1, 63)])
def test_product_of_several_panels(impl, m, k, n):
    """Whatever the tile is: whole panels, one more row or column, one fewer."""
    a, b = whole(m, k), whole(k, n, seed=2)
    calling(impl.product, a, b).gives(a @ b)


def test_product_of_views(impl):
    a, b = whole(7, 5).T, whole(14, 9, seed=2)[::2]
    calling(impl.product, a, b).gives(a @ b)


def test_product_of_broadcast_rows(impl):
    """All rows of a are the same memory."""
    a, b = np.broadcast_to(whole(1, 4), (5, 4)), whole(4, 3, seed=2)
    calling(impl.product, a, b).gives(a @ b)


def test_product_without_steps(impl):
    calling(impl.product, np.empty((2, 0), np.float32), np.empty((0, 3), np.float32)).gives(
        np.zeros((2, 3), np.float32)
    )


def test_product_without_columns(impl):
    calling(impl.product, whole(2, 3), np.empty((3, 0), np.float32)).gives(np.empty((2, 0), np.float32))


def two_products(impl, a, b, other):
    """The first result must stay as it is when the second one is made."""
    first = impl.product(a, b)
    impl.product(a, other)
    return first


def test_product_is_a_new_array(impl):
    a, b = whole(3, 4), whole(4, 5, seed=2)
    calling(two_products, impl, a, b, whole(4, 5, seed=3)).gives(a @ b)


@given(m=st.integers(1, 40), k=st.integers(1, 20), n=st.integers(1, 80), seed=st.integers(0, 99))
def test_product_as_in_numpy(impl, m, k, n, seed):
    a, b = whole(m, k, seed=seed), whole(k, n, seed=seed + 1)
    calling(impl.product, a, b).gives(a @ b)


def test_conv2d(impl):
    x, weight = np.float32([[[[1, 2, 3], [4, 5, 6]]]]), np.float32([[[[10, 1]]]])
    calling(impl.conv2d, x, weight).gives(np.float32([[[[12, 23], [45, 56]]]]))


def test_conv2d_with_bias(impl):
    x, weight = np.float32([[[[1, 2, 3], [4, 5, 6]]]]), np.float32([[[[10, 1]]], [[[0, 1]]]])
    calling(impl.conv2d, x, weight, np.float32([100, -7])).gives(
        np.float32([[[[112, 123], [145, 156]], [[-5, -4], [-2, -1]]]])
    )


@pytest.mark.parametrize(
    ("shape", "kernels", "settings"),
    [
        ((2, 3, 5, 6), (4, 3, 3, 2), ((1, 1), (0, 0), (1, 1), 1)),
        ((1, 2, 7, 6), (3, 2, 3, 3), ((2, 1), (1, 2), (1, 1), 1)),
        ((1, 2, 8, 9), (3, 2, 2, 3), ((1, 2), (0, 1), (3, 2), 1)),
        ((2, 4, 4, 5), (6, 2, 2, 2), ((1, 1), (1, 0), (1, 1), 2)),
        ((2, 3, 5, 4), (6, 1, 3, 3), ((1, 1), (1, 1), (1, 1), 3)),
        ((2, 9, 3, 4), (7, 9, 1, 1), ((1, 1), (0, 0), (1, 1), 1)),
    ],
)
def test_conv2d_as_the_plain_sum(impl, shape, kernels, settings):
    x, weight, bias = whole(*shape), whole(*kernels, seed=2), counting(kernels[0])
    calling(impl.conv2d, x, weight, bias, *settings).gives(plainly(x, weight, bias, *settings))


def plainly(x, weight, bias, stride, padding, dilation, groups):
    """The reference implementation of kuiper's convolution: the formula, pixel by pixel."""
    window = Window(weight.shape[2:], stride, padding, padding, dilation)
    return plain_conv2d(x, weight, bias, window, groups).astype(np.float32)


def test_conv2d_leaves_all_multiplications_to_product(impl):
    """Two images, two groups of two kernels, 8 weights for each of 3 x 4 pixels: 2 * 2 * 2 * 8 * 12."""
    x, weight = whole(2, 4, 4, 5), whole(4, 2, 2, 2, seed=2)
    calling(multiplications, impl, "conv2d", x, weight, None, (1, 1), (0, 0), (1, 1), 2).gives(768)


def test_winograd(impl):
    x = counting(1, 1, 3, 4)
    weight = np.float32([[[[1, 0, 0], [0, 0, 10], [0, 100, 0]]]])
    calling(impl.winograd, x, weight).gives(np.float32([[[[1071, 1182]]]]))


def test_winograd_with_bias(impl):
    x = counting(1, 1, 3, 4)
    weight = np.float32([[[[1, 0, 0], [0, 0, 10], [0, 100, 0]]]])
    calling(impl.winograd, x, weight, np.float32([0.5])).gives(np.float32([[[[1071.5, 1182.5]]]]))


@pytest.mark.parametrize(
    ("shape", "out_c", "padding"),
    [
        ((1, 1, 4, 6), 1, (0, 0)),
        ((1, 3, 4, 4), 2, (0, 0)),
        ((1, 2, 5, 8), 3, (0, 0)),
        ((1, 2, 8, 5), 3, (0, 0)),
        ((2, 3, 6, 4), 5, (1, 1)),
        ((3, 2, 5, 7), 4, (1, 0)),
        ((2, 9, 7, 6), 7, (0, 1)),
    ],
)
def test_winograd_as_the_plain_sum(impl, shape, out_c, padding):
    """Weights are multiples of 4, so that all quarters in the transform are integers."""
    x, weight, bias = whole(*shape), 4 * whole(out_c, shape[1], 3, 3, seed=2), counting(out_c)
    wanted = plainly(x, weight, bias, (1, 1), padding, (1, 1), 1)
    calling(impl.winograd, x, weight, bias, padding).gives(wanted)


def test_winograd_leaves_all_multiplications_to_product(impl):
    """Two images with 2 x 3 tiles, 16 places, 4 kernels, 3 channels: 2 * 6 * 16 * 4 * 3."""
    x, weight = whole(2, 3, 6, 8), whole(4, 3, 3, 3, seed=2)
    calling(multiplications, impl, "winograd", x, weight).gives(2304)
