"""Exercise 3.9."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window


def array(numbers):
    return np.array(numbers, np.float32)


def counting(*shape, start=1):
    """start, start + 1, ... in this shape."""
    return np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape)


KERNEL = array([[[[1, 0, 0], [0, 0, 10], [0, 100, 0]]]])  # the sum shows in its digits which pixel met which weight


def direct(x, weight, bias, padding):
    """The plain convolution, by its definition."""
    zeros = np.zeros(len(weight), np.float32)
    return reference.conv2d(
        x, weight, zeros if bias is None else bias, Window((3, 3), (1, 1), padding, padding, (1, 1)), 1
    )


def test_transform_filters(impl):
    weight = array([[[[4, 8, 0], [0, 0, 0], [0, 0, 12]]]])
    expected = array([[[[4, 6, -2, 0], [2, 6, 2, 6], [2, 6, 2, 6], [0, 6, 6, 12]]]])
    calling(impl.transform_filters, weight).gives(expected)


def test_transform_filters_tells_rows_from_columns(impl):
    weight = array([[[[0, 4, 0], [0, 0, 0], [0, 0, 0]]]])
    calling(impl.transform_filters, weight).gives(
        array([[[[0, 2, -2, 0], [0, 1, -1, 0], [0, 1, -1, 0], [0, 0, 0, 0]]]])
    )


def test_transform_filters_each(impl):
    weight = counting(2, 3, 3, 3, start=-20) * 4
    expected = np.empty((2, 3, 4, 4), np.float32)
    for k, c in np.ndindex(2, 3):
        g0, g1, g2 = weight[k, c]
        rows = np.stack([g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2])
        h0, h1, h2 = rows.T
        expected[k, c] = np.stack([h0, (h0 + h1 + h2) / 2, (h0 - h1 + h2) / 2, h2], axis=1)
    calling(impl.transform_filters, weight).gives(expected)


def test_cut_one_tile(impl):
    x = counting(1, 1, 4, 4)
    calling(impl.cut_tiles, x).gives(x.reshape(1, 1, 1, 1, 4, 4))


def test_cut_tiles_that_overlap(impl):
    x = counting(1, 1, 4, 6)
    left, right = x[0, 0, :, :4], x[0, 0, :, 2:]
    calling(impl.cut_tiles, x).gives(np.stack([left, right])[None, None, None])
    turned = np.ascontiguousarray(x.swapaxes(2, 3))
    calling(impl.cut_tiles, turned).gives(np.stack([left.T, right.T])[None, None, :, None])


def test_cut_tiles_of_odd_size(impl):
    tiles = [
        [[1, 2, 3, 4], [6, 7, 8, 9], [11, 12, 13, 14], [0] * 4],
        [[3, 4, 5, 0], [8, 9, 10, 0], [13, 14, 15, 0], [0] * 4],
    ]
    calling(impl.cut_tiles, counting(1, 1, 3, 5)).gives(array([[[tiles]]]))


def test_cut_tiles_with_padding(impl):
    top = [[0, 0, 0, 0], [0, 1, 2, 0], [0, 3, 4, 0], [0, 0, 0, 0]]
    calling(impl.cut_tiles, counting(1, 1, 2, 2), (1, 1)).gives(array([[[[top]]]]))
    wide = [[[0, 0, 1, 2], [0, 0, 4, 5], [0, 0, 7, 8], [0] * 4], [[1, 2, 3, 0], [4, 5, 6, 0], [7, 8, 9, 0], [0] * 4]]
    wide.append([[3, 0, 0, 0], [6, 0, 0, 0], [9, 0, 0, 0], [0] * 4])
    calling(impl.cut_tiles, counting(1, 1, 3, 3), (0, 2)).gives(array([[[wide]]]))


@pytest.mark.parametrize(
    ("h", "w", "padding", "tiles"),
    [
        (3, 4, (0, 0), (1, 1)),
        (5, 8, (0, 0), (2, 3)),
        (9, 6, (0, 0), (4, 2)),
        (4, 7, (1, 1), (2, 4)),
        (5, 5, (0, 3), (2, 5)),
        (1, 1, (1, 2), (1, 2)),
    ],
)
def test_number_of_tiles(impl, h, w, padding, tiles):
    x = counting(1, 2, h, w)
    rows, columns = tiles
    framed = np.pad(x, ((0, 0), (0, 0), (padding[0], padding[0] + 2), (padding[1], padding[1] + 2)))
    expected = np.empty((1, 2, rows, columns, 4, 4), np.float32)
    for row, column, y, column_of_tile in np.ndindex(rows, columns, 4, 4):
        expected[:, :, row, column, y, column_of_tile] = framed[:, :, 2 * row + y, 2 * column + column_of_tile]
    calling(impl.cut_tiles, x, padding).gives(expected)


def test_cut_tiles_of_images_and_channels(impl):
    x = counting(3, 2, 3, 3)
    expected = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)))[:, :, None, None]
    calling(impl.cut_tiles, x).gives(expected)


def test_transform_tiles(impl):
    tile = array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 20]])
    expected = array([[0, -16, 0, 0], [-4, 34, 2, -4], [0, 8, 0, 0], [0, -16, 0, 4]])
    calling(impl.transform_tiles, tile).gives(expected)


def test_transform_tiles_tells_rows_from_columns(impl):
    tile = array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    calling(impl.transform_tiles, tile).gives(array([[0, 1, -1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))


def test_transform_tiles_each(impl):
    tiles = counting(2, 3, 1, 2, 4, 4, start=-40) ** 2
    d0, d1, d2, d3 = np.moveaxis(tiles, -2, 0)
    rows = np.stack([d0 - d2, d1 + d2, d2 - d1, d1 - d3], axis=-2)
    e0, e1, e2, e3 = np.moveaxis(rows, -1, 0)
    calling(impl.transform_tiles, tiles).gives(np.stack([e0 - e2, e1 + e2, e2 - e1, e1 - e3], axis=-1))


def test_transform_outputs(impl):
    products = array([[1, 2, 3, 4], [0, 0, 0, 0], [0, 0, 0, 0], [10, 20, 30, 50]])
    calling(impl.transform_outputs, products).gives(array([[6, -5], [-60, 60]]))


def test_transform_outputs_each(impl):
    m = counting(2, 3, 1, 2, 4, 4, start=-40) ** 2
    rows = np.stack([m[..., 0, :] + m[..., 1, :] + m[..., 2, :], m[..., 1, :] - m[..., 2, :] - m[..., 3, :]], axis=-2)
    expected = np.stack(
        [rows[..., 0] + rows[..., 1] + rows[..., 2], rows[..., 1] - rows[..., 2] - rows[..., 3]], axis=-1
    )
    calling(impl.transform_outputs, m).gives(expected)


def test_winograd_one_tile(impl):
    calling(impl.winograd, counting(1, 1, 4, 4), KERNEL).gives(array([[[[1071, 1182], [1515, 1626]]]]))


def test_winograd_of_odd_size(impl):
    calling(impl.winograd, counting(1, 1, 3, 5), KERNEL).gives(array([[[[1281, 1392, 1503]]]]))
    calling(impl.winograd, counting(1, 1, 5, 3), KERNEL).gives(array([[[[861], [1194], [1527]]]]))


def test_winograd_bias(impl):
    weight = np.concatenate([KERNEL, -KERNEL])
    expected = array([[[[861.5]], [[-911]]]])
    calling(impl.winograd, counting(1, 1, 3, 3), weight, array([0.5, -50])).gives(expected)


def test_winograd_padding(impl):
    calling(impl.winograd, array([[[[1, 2, 3]]]]), KERNEL, padding=(1, 0)).gives(array([[[[30]]]]))
    x = array([[[[1], [2], [3]]]])
    calling(impl.winograd, x, KERNEL, padding=(0, 1)).gives(array([[[[300]]]]))
    expected = array([[[[320, 400], [40, 1]]]])
    calling(impl.winograd, array([[[[1, 2], [3, 4]]]]), KERNEL, None, (1, 1)).gives(expected)


def test_winograd_images_know_nothing_of_each_other(impl):
    x = np.stack([np.full((1, 4, 5), np.nan, np.float32), counting(1, 4, 5)])
    expected = direct(x, KERNEL, None, (0, 0))
    calling(impl.winograd, x, KERNEL).gives(expected)


def arguments_afterwards(impl, x, weight, bias):
    impl.winograd(x, weight, bias, (1, 1))[...] = -5
    return x, weight, bias


def test_winograd_leaves_its_arguments_alone(impl):
    x, weight, bias = counting(1, 2, 3, 4), counting(2, 2, 3, 3), counting(2)
    calling(arguments_afterwards, impl, x, weight, bias).gives((x.copy(), weight.copy(), bias.copy()))


def test_winograd_of_views(impl):
    x, weight = counting(1, 2, 8, 10)[:, ::-1, ::2, ::2], counting(2, 2, 3, 3)[::-1, :, ::-1]
    wanted = direct(np.ascontiguousarray(x), np.ascontiguousarray(weight), None, (0, 0))
    calling(impl.winograd, x, weight).gives(wanted)
    calling(impl.winograd, np.asfortranarray(x), np.asfortranarray(weight)).gives(wanted)


def test_winograd_channels_are_added(impl):
    x = np.concatenate([counting(1, 1, 3, 3), 10 * counting(1, 1, 3, 3), -counting(1, 1, 3, 3)], axis=1)
    weight = np.concatenate([KERNEL, 2 * KERNEL, 5 * KERNEL], axis=1)
    calling(impl.winograd, x, weight).gives(array([[[[861 * 16]]]]))


@pytest.mark.parametrize(
    ("n", "in_c", "out_c", "h", "w", "padding"),
    [
        (2, 1, 1, 4, 6, (0, 0)),
        (1, 3, 2, 6, 4, (0, 0)),
        (3, 2, 5, 5, 8, (1, 0)),
        (2, 3, 4, 7, 5, (0, 2)),
        (1, 4, 3, 1, 2, (3, 1)),
        (2, 2, 2, 3, 3, (0, 0)),
        (0, 2, 3, 4, 5, (0, 0)),
    ],
)
def test_winograd_as_the_convolution(impl, n, in_c, out_c, h, w, padding):
    x, weight = counting(n, in_c, h, w, start=-30), counting(out_c, in_c, 3, 3, start=-15)
    bias = counting(out_c, start=-2)
    calling(impl.winograd, x, weight, bias, padding).gives(direct(x, weight, bias, padding))


@pytest.mark.parametrize("kernel", [(3, 1), (1, 3), (3, 4), (5, 3), (1, 1)])
def test_error_of_the_kernel(impl, kernel):
    calling(impl.winograd, counting(1, 2, 6, 6), counting(1, 2, *kernel)).raises(ValueError, "kernel")


@pytest.mark.parametrize(("in_c", "depth"), [(1, 3), (2, 1), (3, 2)])
def test_error_of_the_channels(impl, in_c, depth):
    calling(impl.winograd, counting(1, in_c, 6, 6), counting(2, depth, 3, 3)).raises(ValueError, "channels")


@pytest.mark.parametrize(
    ("h", "w", "padding"), [(2, 5, (0, 0)), (5, 2, (0, 0)), (2, 2, (1, 0)), (2, 1, (0, 1)), (0, 4, (1, 1))]
)
def test_error_of_the_picture(impl, h, w, padding):
    calling(impl.winograd, counting(1, 1, h, w), KERNEL, padding=padding).raises(ValueError, "padded")


@given(data=st.data())
def test_as_the_definition(impl, data):
    n, in_c, out_c, h, w = data.draw(st.tuples(*[st.integers(1, most) for most in (2, 2, 3, 6, 6)]), label="sizes")
    padding = tuple(data.draw(st.integers(max(0, (4 - size) // 2), 2), label="padding") for size in (h, w))
    random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    x, weight = (random.normal(size=shape).astype(np.float32) for shape in ((n, in_c, h, w), (out_c, in_c, 3, 3)))
    calling(impl.winograd, x, weight, None, padding).gives(direct(x, weight, None, padding), tolerance=1e-5)
