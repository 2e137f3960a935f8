"""Exercise 3.4."""

from __future__ import annotations

import numpy as np

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.layers.reference import im2col as reference
from kuiper.layers.window import Window

ABC = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
WIDE = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]


def image(*channels):
    return np.array(channels, np.float32)


def columns_of(impl, x, shape, kernel, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """One row for each weight of a kernel, one column for each output pixel; the room holds old numbers."""
    columns = np.full((len(x) * kernel[0] * kernel[1], *shape), 99, np.float32)
    impl.im2col(x, columns, *kernel, *stride, *padding, *dilation)
    return columns.reshape(len(columns), -1)


def test_picture_of_the_text(impl):
    expected = [[1, 2, 4, 5], [2, 3, 5, 6], [4, 5, 7, 8], [5, 6, 8, 9]]
    calling(columns_of, impl, image(ABC), (2, 2), (2, 2)).gives(expected)


def test_columns_have_three_axes(impl):
    columns = np.full((2, 3, 2), 99, np.float32)
    expected = [[[1, 2], [4, 5], [7, 8]], [[2, 3], [5, 6], [8, 9]]]
    calling(impl.im2col, image(ABC), columns, 1, 2, 1, 1, 0, 0, 1, 1).fills(columns, expected)


def test_kernel_of_one_row(impl):
    expected = [[1, 2, 3, 6, 7, 8, 11, 12, 13], [2, 3, 4, 7, 8, 9, 12, 13, 14], [3, 4, 5, 8, 9, 10, 13, 14, 15]]
    calling(columns_of, impl, image(WIDE), (3, 3), (1, 3)).gives(expected)


def test_kernel_of_one_column(impl):
    expected = [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]
    calling(columns_of, impl, image(WIDE), (2, 5), (2, 1)).gives(expected)


def test_kernel_of_one_pixel(impl):
    calling(columns_of, impl, image([[1, 2]], [[3, 4]]), (1, 2), (1, 1)).gives([[1, 2], [3, 4]])


def test_channels_one_after_the_other(impl):
    x = image([[1, 2], [3, 4], [5, 6]], [[10, 20], [30, 40], [50, 60]])
    expected = [[1, 3], [2, 4], [3, 5], [4, 6], [10, 30], [20, 40], [30, 50], [40, 60]]
    calling(columns_of, impl, x, (2, 1), (2, 2)).gives(expected)


def test_stride_across(impl):
    expected = [[1, 3, 6, 8, 11, 13], [2, 4, 7, 9, 12, 14]]
    calling(columns_of, impl, image(WIDE), (3, 2), (1, 2), stride=(1, 2)).gives(expected)


def test_stride_down(impl):
    expected = [[1, 2, 3, 4, 11, 12, 13, 14], [2, 3, 4, 5, 12, 13, 14, 15]]
    calling(columns_of, impl, image(WIDE), (2, 4), (1, 2), stride=(2, 1)).gives(expected)


def test_padding_across(impl):
    expected = [[0, 1, 2, 0, 4, 5, 0, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 3, 0, 5, 6, 0, 8, 9, 0]]
    calling(columns_of, impl, image(ABC), (3, 3), (1, 3), padding=(0, 1)).gives(expected)


def test_padding_down(impl):
    expected = [[0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]]
    calling(columns_of, impl, image(ABC), (4, 3), (2, 1), padding=(1, 0)).gives(expected)


def test_padding_larger_than_the_kernel(impl):
    calling(columns_of, impl, image([[7, 8]]), (3, 6), (1, 1), padding=(1, 2)).gives([[0] * 8 + [7, 8] + [0] * 8])


def test_dilation_across(impl):
    expected = [[1, 2, 3, 6, 7, 8, 11, 12, 13], [3, 4, 5, 8, 9, 10, 13, 14, 15]]
    calling(columns_of, impl, image(WIDE), (3, 3), (1, 2), dilation=(1, 2)).gives(expected)


def test_dilation_down(impl):
    expected = [[1, 2, 3, 4], [2, 3, 4, 5], [11, 12, 13, 14], [12, 13, 14, 15]]
    calling(columns_of, impl, image(WIDE), (1, 4), (2, 2), dilation=(2, 1)).gives(expected)


def test_all_at_once(impl):
    x = image(WIDE, [[-value for value in row] for row in WIDE])
    rows = [[0, 0, 0, 8], [0, 0, 7, 10], [0, 8, 0, 0], [7, 10, 0, 0]]
    expected = [*rows, *([-value for value in line] for line in rows)]
    calling(columns_of, impl, x, (2, 2), (2, 2), (2, 3), (1, 1), (2, 2)).gives(expected)


def test_padding_beside_what_is_no_number(impl):
    x = image([[np.nan, 1, np.inf]])
    expected = [[0, np.nan, 1], [np.nan, 1, np.inf], [1, np.inf, 0]]
    calling(columns_of, impl, x, (1, 3), (1, 3), padding=(0, 1)).gives(expected)


def into_gaps(impl, x):
    """Columns that lie in every second place of a larger array: what lies between them is not touched."""
    room = np.full((2, 4, 4), 99, np.float32)
    impl.im2col(x, room[:, ::2, 1::2], 1, 2, 1, 1, 0, 0, 1, 1)
    return room


def test_columns_with_gaps_in_memory(impl):
    nothing = [99] * 4
    expected = [[[99, 1, 99, 2], nothing, [99, 4, 99, 5], nothing], [[99, 2, 99, 3], nothing, [99, 5, 99, 6], nothing]]
    calling(into_gaps, impl, image([[1, 2, 3], [4, 5, 6]])).gives(expected)


def test_dilated_window_that_begins_before_the_image(impl):
    x = image([[1, 2, 3, 4, 5]])
    expected = [[0, 0, 1, 3], [1, 3, 5, 0]]
    calling(columns_of, impl, x, (1, 4), (1, 2), (1, 2), (0, 4), (1, 4)).gives(expected)


def part_of_an_image(impl, x):
    """The second half of the channels, mirrored: as a grouped convolution on a view would ask for."""
    columns = np.full((2, 1, 2), 99, np.float32)
    impl.im2col(x[1:, :, ::-1], columns, 1, 2, 1, 1, 0, 0, 1, 1)
    return columns


def test_gaps_in_memory(impl):
    calling(part_of_an_image, impl, image([[1, 2, 3]], [[4, 5, 6]])).gives([[[6, 5]], [[5, 4]]])


@given(data=st.data())
def test_as_the_definition(impl, data):
    pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))
    kernel, stride, dilation = (data.draw(pairs, label=name) for name in ("kernel", "stride", "dilation"))
    padding = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)), label="padding")
    c = data.draw(st.integers(1, 3), label="channels")
    spare = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)), label="spare")
    window = Window(kernel, stride, padding, padding, dilation)
    h, w = (max(1, window.span[axis] - 2 * padding[axis]) + spare[axis] for axis in (0, 1))
    x = np.arange(-4, c * h * w - 4, dtype=np.float32).reshape(c, h, w) + np.float32(0.5)
    columns = reference.im2col(x, window)
    expected = columns.reshape(len(columns), -1)
    calling(columns_of, impl, x, columns.shape[1:], kernel, stride, padding, dilation).gives(expected)


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass."""
    from kuiper.machine.stopwatch import best_seconds

    x = np.random.default_rng(1).random((8, 32, 32), np.float32)
    columns = np.empty((8 * 3 * 3, 32, 32), np.float32)
    return best_seconds(lambda: impl.im2col(x, columns, 3, 3, 1, 1, 1, 1, 1, 1)), columns.size, "numbers"
