"""Pictures in, pictures out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ShapeError
from kuiper.models import ImageCard
from kuiper.models.tasks.image_to_image import picture_input, picture_output

CARD = ImageCard(mean=(0.5, 0.25, 0), std=(0.5, 2, 4))


def noise(height: int, width: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8))


@pytest.mark.parametrize("card", [ImageCard(), CARD])
def test_output_undoes_input(card: ImageCard) -> None:
    photo = noise(5, 7)
    x = picture_input(photo, card)
    assert (x.shape, x.dtype) == ((1, 3, 5, 7), np.float32)
    assert picture_output(x, card).tobytes() == photo.tobytes()


def test_input_is_normalised_by_channel() -> None:
    x = picture_input(Image.new("RGB", (1, 1), (255, 0, 255)), CARD)
    assert x.ravel().tolist() == [1, -0.125, 0.25]


def test_luma_is_the_y_of_jpeg() -> None:
    photo = noise(6, 4)
    x = picture_input(photo, ImageCard(), luma=True)
    red, green, blue = np.asarray(photo, float).transpose(2, 0, 1)
    np.testing.assert_allclose(x[0, 0] * 255, 0.299 * red + 0.587 * green + 0.114 * blue, atol=1)  # Pillow cuts off
    assert picture_input(photo, CARD, luma=True)[0, 0, 0, 0] == (x[0, 0, 0, 0] - np.float32(0.5)) / np.float32(0.5)


def test_output_of_brightness_takes_the_colours_of_the_photo() -> None:
    photo = Image.new("RGB", (4, 3), (200, 30, 90))
    brightness = picture_input(photo, ImageCard(), luma=True).repeat(2, axis=2).repeat(2, axis=3)
    picture = picture_output(brightness, ImageCard(), photo)
    assert (picture.size, picture.mode) == ((8, 6), "RGB")
    assert np.abs(np.asarray(picture, int) - (200, 30, 90)).max() <= 2  # to YCbCr and back
    assert picture_output(brightness, ImageCard()).mode == "L"


def test_output_is_cut_and_rounded() -> None:
    values = np.float32([[[[-3, 0.0019, 0.002, 0.5, 1, 1e30, np.nan, np.inf, -np.inf]]]])
    assert list(picture_output(values, ImageCard()).tobytes()) == [0, 0, 1, 128, 255, 255, 0, 255, 0]


@pytest.mark.parametrize("shape", [(1, 3, 5), (1, 2, 4, 4), (2, 3, 4, 4), (1, 3, 0, 4), (3, 4, 4), (1, 10)])
def test_output_that_is_no_picture_is_refused(shape: tuple[int, ...]) -> None:
    expected = f"net: expected floats (1, 3, h, w) or (1, 1, h, w) to make a picture of, got float32 of shape {shape}"
    with pytest.raises(ShapeError, match=re.escape(expected)):
        picture_output(np.zeros(shape, np.float32), ImageCard(), where="net")


def test_output_of_whole_numbers_is_refused() -> None:
    with pytest.raises(ShapeError, match="got int64 of shape"):
        picture_output(np.zeros((1, 3, 2, 2), np.int64), ImageCard())
