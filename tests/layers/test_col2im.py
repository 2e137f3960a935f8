import numpy as np
import pytest

from kuiper.layers.kernels.col2im import col2im
from kuiper.layers.reference import col2im as reference
from kuiper.layers.reference import im2col as reference_im2col
from kuiper.layers.window import Window


def image_of(columns: np.ndarray, window: Window, h: int, w: int, num_threads: int = 1) -> np.ndarray:
    """The columns added up on an image of zeros."""
    image = np.zeros((len(columns) // (window.kernel[0] * window.kernel[1]), h, w), np.float32)
    geometry = (*window.kernel, *window.stride, *window.before, *window.dilation)
    col2im(columns, image, *geometry, num_threads)
    return image


def columns_for(window: Window, c: int, h: int, w: int) -> np.ndarray:
    """Columns of small integers: their sums are exact in any order."""
    shape = (c * window.kernel[0] * window.kernel[1], *window.output_size((h, w)))
    return np.random.default_rng(0).integers(-50, 50, shape).astype(np.float32)


def test_col2im_adds_where_stamps_overlap() -> None:
    columns = np.float32([[[1, 2]], [[10, 20]], [[100, 200]]])  # stamps 1 10 100 and 2 20 200, two apart
    np.testing.assert_array_equal(image_of(columns, Window((1, 3), stride=(1, 2)), 1, 5), [[[1, 10, 102, 20, 200]]])


def test_col2im_drops_what_falls_outside() -> None:
    columns = np.float32([[[1, 2]], [[10, 20]], [[100, 200]]])
    window = Window((1, 3), stride=(1, 2), before=(0, 1))
    np.testing.assert_array_equal(image_of(columns, window, 1, 3), [[[10, 102, 20]]])


def test_col2im_adds_to_what_is_there() -> None:
    image = np.float32([[[5, 7]]])
    col2im(np.float32([[[1, 2]]]), image, 1, 1, 1, 1, 0, 0, 1, 1, 1)
    np.testing.assert_array_equal(image, [[[6, 9]]])


@pytest.mark.parametrize("width", [1, 2, 7, 8, 13, 17, 33])
@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (1, 2), (3, 4)])
def test_col2im_equals_its_reference(width: int, stride: tuple[int, int]) -> None:
    for window in (
        Window((3, 3), stride, (1, 1), (1, 1)),
        Window((2, 5), stride, (0, 4), (1, 0)),
        Window((3, 2), stride, (2, 3), (2, 3), dilation=(2, 3)),
        Window((1, 1), stride, (2, 2), (0, 0)),
    ):
        columns = columns_for(window, 3, 5, width)
        np.testing.assert_array_equal(image_of(columns, window, 5, width), reference.col2im(columns, window, 5, width))


def test_col2im_is_the_transpose_of_im2col() -> None:
    window = Window((3, 2), (2, 1), (1, 2), (0, 1), (1, 3))
    columns = columns_for(window, 2, 6, 7)
    image = np.random.default_rng(1).integers(-9, 9, (2, 6, 7)).astype(np.float32)
    assert np.vdot(reference_im2col.im2col(image, window), columns) == np.vdot(image, image_of(columns, window, 6, 7))


def test_col2im_does_not_depend_on_the_number_of_threads() -> None:
    window = Window((3, 3), before=(1, 1), after=(1, 1))
    columns = np.random.default_rng(2).standard_normal((5 * 9, 6, 7), np.float32)
    np.testing.assert_array_equal(image_of(columns, window, 6, 7, 1), image_of(columns, window, 6, 7, 3))
