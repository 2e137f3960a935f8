import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import layer, run


def test_pixel_shuffle_deals_channels_out_over_rows_and_columns() -> None:
    x = np.arange(1, 17).reshape(1, 8, 1, 2)  # two images of 1 x 2, four channels each
    out = run("nn.PixelShuffle", x, upscale_factor=2)
    np.testing.assert_array_equal(out[0], [[[1, 3, 2, 4], [5, 7, 6, 8]], [[9, 11, 10, 12], [13, 15, 14, 16]]])


def test_pixel_shuffle_takes_any_number_of_batch_axes() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 9, 2, 5))
    out = run("F.pixel_shuffle", x, upscale_factor=3)
    assert out.shape == (2, 3, 1, 6, 15)
    np.testing.assert_array_equal(out[1, 2], run("F.pixel_shuffle", x[1, 2], upscale_factor=3))
    assert run("F.pixel_shuffle", x[:0], upscale_factor=3).shape == (0, 3, 1, 6, 15)


def test_pixel_shuffle_errors_name_the_operator() -> None:
    with pytest.raises(ShapeError, match=r"^nn.PixelShuffle 'it': expected input .* a multiple of 4, got \(6, 2, 2\)$"):
        run("nn.PixelShuffle", np.zeros((6, 2, 2)), upscale_factor=2)
    with pytest.raises(ShapeError, match=r"got \(4, 2\)$"):
        run("nn.PixelShuffle", np.zeros((4, 2)), upscale_factor=2)
    with pytest.raises(ParameterError, match="expected upscale_factor of at least 1, got 0"):
        layer("nn.PixelShuffle", upscale_factor=0)
