import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper.layers.kernels.im2col import im2col
from kuiper.layers.reference import im2col as reference
from kuiper.layers.window import Window


def columns_of(image: np.ndarray, window: Window, num_threads: int = 1) -> np.ndarray:
    """All columns of an image; what is not written stays NaN."""
    c, h, w = image.shape
    columns = np.full((c * window.kernel[0] * window.kernel[1], *window.output_size((h, w))), np.nan, np.float32)
    im2col(image, columns, *geometry(window), 0, num_threads)
    return columns


def geometry(window: Window) -> tuple[int, ...]:
    return (*window.kernel, *window.stride, *window.before, *window.dilation)


def numbered(*shape: int) -> np.ndarray:
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def pairs(low: int, high: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


def test_im2col_writes_windows_as_columns() -> None:
    columns = columns_of(np.float32([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]), Window((2, 2)))
    np.testing.assert_array_equal(columns.reshape(4, 4), [[1, 2, 4, 5], [2, 3, 5, 6], [4, 5, 7, 8], [5, 6, 8, 9]])


def test_im2col_puts_zeros_outside_the_image() -> None:
    window = Window((1, 3), stride=(1, 2), before=(0, 1), after=(1, 2))
    columns = columns_of(np.float32([[[1, 2, 3, 4]]]), window)
    np.testing.assert_array_equal(columns[:, 0], [[0, 2, 4], [1, 3, 0], [2, 4, 0]])
    np.testing.assert_array_equal(columns[:, 1], np.zeros((3, 3)))


@pytest.mark.parametrize("width", [1, 2, 7, 8, 13, 17, 33])
@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (1, 2), (3, 4)])
def test_im2col_equals_its_reference(width: int, stride: tuple[int, int]) -> None:
    for window in (
        Window((3, 3), stride, (1, 1), (1, 1)),
        Window((2, 5), stride, (0, 4), (1, 0)),
        Window((3, 2), stride, (2, 3), (2, 3), dilation=(2, 3)),
        Window((1, 1), stride, (2, 2), (0, 0)),
    ):
        image = numbered(3, 5, width)
        np.testing.assert_array_equal(columns_of(image, window), reference.im2col(image, window))


@settings(max_examples=60)
@given(pairs(1, 4), pairs(1, 4), pairs(0, 9), pairs(0, 9), pairs(1, 3), pairs(1, 7))
def test_im2col_equals_its_reference_on_any_window(kernel, stride, before, after, dilation, size) -> None:
    window = Window(kernel, stride, before, after, dilation)
    span = window.span
    if any(size[i] + before[i] + after[i] < span[i] for i in (0, 1)):
        return
    image = numbered(2, *size)
    np.testing.assert_array_equal(columns_of(image, window), reference.im2col(image, window))


def test_im2col_fills_any_run_of_rows() -> None:
    image, window = numbered(2, 7, 5), Window((3, 3), (2, 1), (1, 1), (1, 1))
    whole = columns_of(image, window)
    for first in range(whole.shape[1]):
        block = np.full((len(whole), whole.shape[1] - first, whole.shape[2]), np.nan, np.float32)
        im2col(image, block, *geometry(window), first, 1)
        np.testing.assert_array_equal(block, whole[:, first:])


def test_im2col_does_not_depend_on_the_number_of_threads() -> None:
    image, window = numbered(5, 8, 9), Window((3, 2), (1, 2), (1, 1), (1, 1))
    np.testing.assert_array_equal(columns_of(image, window, 1), columns_of(image, window, 3))
