import numpy as np
import pytest

from kuiper.errors import ParameterError, ShapeError
from tests.layers.one_operator import layer, run


def test_pixel_unshuffle_collects_every_other_pixel() -> None:
    x = np.array([[[1, 2, 3, 4], [5, 6, 7, 8]]])
    out = run("nn.PixelUnshuffle", x, downscale_factor=2)
    np.testing.assert_array_equal(out, [[[1, 3]], [[2, 4]], [[5, 7]], [[6, 8]]])


def test_pixel_unshuffle_undoes_pixel_shuffle() -> None:
    x = np.random.default_rng(0).standard_normal((2, 18, 3, 4))
    shuffled = run("F.pixel_shuffle", x, upscale_factor=3)
    np.testing.assert_array_equal(run("F.pixel_unshuffle", shuffled, downscale_factor=3), x)


def test_pixel_unshuffle_errors_name_the_operator() -> None:
    with pytest.raises(
        ShapeError, match=r"^nn.PixelUnshuffle 'it': expected input .* multiples of 2, got \(1, 4, 3\)$"
    ):
        run("nn.PixelUnshuffle", np.zeros((1, 4, 3)), downscale_factor=2)
    with pytest.raises(ParameterError, match="expected downscale_factor of at least 1, got -1"):
        layer("nn.PixelUnshuffle", downscale_factor=-1)
