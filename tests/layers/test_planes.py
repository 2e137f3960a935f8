import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.planes import as_planes, as_rows


def test_as_planes_is_a_view_of_contiguous_images() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3)
    planes = as_planes(x, "doc")
    assert planes.shape == (4, 2, 3)
    assert np.shares_memory(planes, x)


def test_as_planes_orders_other_layouts() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2).transpose(0, 3, 2, 1)
    np.testing.assert_array_equal(as_planes(x, "doc"), x.reshape(4, 2, 3))
    assert as_planes(x, "doc").flags.c_contiguous


def test_as_planes_takes_an_empty_batch() -> None:
    assert as_planes(np.zeros((0, 3, 4, 5), np.float32), "doc").shape == (0, 4, 5)


@pytest.mark.parametrize("shape", [(4, 5), (1, 2, 3, 4, 5)])
def test_as_planes_needs_an_image(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"^here: expected input \(n, c, h, w\) or \(c, h, w\), got"):
        as_planes(np.zeros(shape, np.float32), "here")


def test_as_planes_needs_pixels() -> None:
    with pytest.raises(ShapeError, match=r"expected input with h >= 1 and w >= 1, got \(1, 2, 0, 3\)"):
        as_planes(np.zeros((1, 2, 0, 3), np.float32), "here")


def test_as_planes_needs_float32() -> None:
    with pytest.raises(DataTypeError, match="expected float32 input, got int64"):
        as_planes(np.zeros((1, 2, 3), np.int64), "here")


def test_as_rows_are_images_of_height_one() -> None:
    assert as_rows(np.zeros((2, 3, 4), np.float32), "doc").shape == (2, 3, 1, 4)
    with pytest.raises(ShapeError, match=r"expected input \(n, c, w\) or \(c, w\), got \(4,\)"):
        as_rows(np.zeros(4, np.float32), "doc")
