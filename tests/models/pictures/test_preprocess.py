"""Reading photos of every kind, and the steps from there to a network's input."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ImageError, ParameterError, ShapeError
from kuiper.models.pictures.preprocess import centre_crop, normalise, read_image, resize, resize_shorter, to_rgb

if TYPE_CHECKING:
    from pathlib import Path

ORIENTATION = 0x0112
# 2 rows, 3 columns, every pixel different: any wrong turn shows.
STORED = np.array([[10, 20, 30], [40, 50, 60]], np.uint8)


def red(image: Image.Image) -> list[list[int]]:
    """The red values, row by row."""
    return np.asarray(image)[:, :, 0].tolist()


def pixel(image: Image.Image) -> tuple[int, ...]:
    """The upper left pixel of an image that must be RGB."""
    assert image.mode == "RGB"
    return tuple(np.asarray(image)[0, 0].tolist())


@pytest.mark.parametrize(
    ("orientation", "upright"),
    [
        (1, [[10, 20, 30], [40, 50, 60]]),
        (2, [[30, 20, 10], [60, 50, 40]]),
        (3, [[60, 50, 40], [30, 20, 10]]),
        (4, [[40, 50, 60], [10, 20, 30]]),
        (5, [[10, 40], [20, 50], [30, 60]]),
        (6, [[40, 10], [50, 20], [60, 30]]),
        (7, [[60, 30], [50, 20], [40, 10]]),
        (8, [[30, 60], [20, 50], [10, 40]]),
    ],
)
def test_read_image_turns_a_file_as_its_exif_orientation_says(
    tmp_path: Path, orientation: int, upright: list[list[int]]
) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path = tmp_path / "photo.png"
    Image.fromarray(STORED).save(path, exif=exif)
    assert red(read_image(path)) == upright


def test_read_image_turns_a_jpeg_from_a_camera(tmp_path: Path) -> None:
    pixels = np.zeros((16, 32, 3), np.uint8)
    pixels[:, :16] = (255, 0, 0)  # stored: the left half is red; upright it is the upper half
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    path = tmp_path / "photo.jpg"
    Image.fromarray(pixels).save(path, exif=exif, quality=100, subsampling=0)
    image = read_image(str(path))
    assert image.size == (16, 32)
    values = np.asarray(image, np.int64)
    assert values[:16, :, 0].min() > 240
    assert values[16:, :, 0].max() < 15


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (Image.new("RGB", (2, 1), (1, 2, 3)), (1, 2, 3)),
        (Image.new("L", (2, 1), 7), (7, 7, 7)),
        (Image.new("1", (2, 1), 1), (255, 255, 255)),
        (Image.new("RGBA", (2, 1), (1, 2, 3, 255)), (1, 2, 3)),
        (Image.new("RGBA", (2, 1), (1, 2, 3, 0)), (255, 255, 255)),
        (Image.new("RGBA", (2, 1), (0, 0, 0, 51)), (204, 204, 204)),
        (Image.new("LA", (2, 1), (9, 255)), (9, 9, 9)),
        (Image.new("LA", (2, 1), (9, 0)), (255, 255, 255)),
        (Image.new("CMYK", (2, 1), (0, 255, 255, 0)), (255, 0, 0)),
        (Image.new("RGB", (2, 1), (10, 200, 30)).convert("P", palette=Image.Palette.ADAPTIVE), (10, 200, 30)),
        (Image.fromarray(np.full((1, 2), 65535, np.uint16)), (255, 255, 255)),
        (Image.fromarray(np.full((1, 2), 257 * 100, np.uint16)), (100, 100, 100)),
        (Image.fromarray(np.full((1, 2), 257 * 100, np.int32)), (100, 100, 100)),
    ],
    ids=lambda value: value.mode if isinstance(value, Image.Image) else "",
)
def test_to_rgb_of_every_mode(image: Image.Image, expected: tuple[int, int, int]) -> None:
    assert pixel(to_rgb(image)) == expected
    assert pixel(read_image(image)) == expected


def test_read_image_lays_a_transparent_palette_on_white(tmp_path: Path) -> None:
    image = Image.new("P", (2, 1), 1)
    image.putpalette([0, 0, 0, 10, 20, 30])
    image.putpixel((1, 0), 0)
    path = tmp_path / "palette.gif"
    image.save(path, transparency=1)
    assert np.asarray(read_image(path)).tolist() == [[[255, 255, 255], [0, 0, 0]]]


def test_read_image_scales_a_file_of_16_bit_greys(tmp_path: Path) -> None:
    path = tmp_path / "grey.png"
    Image.fromarray(np.array([[0, 257 * 3, 65535]], np.uint16)).save(path)
    assert red(read_image(path)) == [[0, 3, 255]]


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 3), (2, 3, 4)])
def test_read_image_takes_arrays(shape: tuple[int, ...]) -> None:
    array = np.full(shape, 255, np.uint8)
    array[1, 2, ...] = 9 if len(shape) == 2 else (9, 8, 7, 255)[: shape[2]]
    image = read_image(array)
    assert image.size == (3, 2)
    assert np.asarray(image)[1, 2].tolist() == ([9, 9, 9] if len(shape) == 2 else [9, 8, 7])


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.zeros((2, 3), np.float32), "float32 of shape (2, 3)"),
        (np.zeros((3, 2, 5), np.uint8), "uint8 of shape (3, 2, 5)"),
        (np.zeros(3, np.uint8), "uint8 of shape (3,)"),
        (np.zeros((0, 3), np.uint8), "uint8 of shape (0, 3)"),
    ],
)
def test_read_image_refuses_other_arrays(array: np.ndarray, got: str) -> None:
    with pytest.raises(
        ImageError, match=re.escape(f"expected uint8 of shape (h, w), (h, w, 3) or (h, w, 4), got {got}")
    ):
        read_image(array)


def test_to_rgb_refuses_greys_without_a_white() -> None:
    with pytest.raises(ImageError, match="got floats; scale them"):
        to_rgb(Image.new("F", (1, 1), 0.5))
    with pytest.raises(ImageError, match="got values -1 to 70000"):
        to_rgb(Image.fromarray(np.array([[-1, 70000]], np.int32)))


def test_read_image_refuses_what_is_not_an_image(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "text.jpg").write_text("not a photo")
    for name, message in {
        "empty.jpg": "expected an image, got an empty file",
        "text.jpg": "expected an image, got a file of another kind",
        "nowhere.jpg": "expected a file, got nothing there",
        "": "expected a file, got a directory",
    }.items():
        path = tmp_path / name
        with pytest.raises(ImageError, match=re.escape(f"{path}: {message}")):
            read_image(path)


@pytest.mark.parametrize("kind", ["jpg", "png", "bmp", "gif"])
def test_read_image_refuses_a_truncated_file(tmp_path: Path, kind: str) -> None:
    generator = np.random.default_rng(1)
    whole, cut = tmp_path / f"whole.{kind}", tmp_path / f"cut.{kind}"
    Image.fromarray(generator.integers(0, 256, (64, 48, 3), np.uint8)).save(whole)
    content = whole.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    assert read_image(whole).size == (48, 64)
    with pytest.raises(ImageError, match="expected an image that can be read"):
        read_image(cut)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_read_image_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(ImageError, match="got a special file"):
        read_image(tmp_path / "pipe.jpg")


def test_read_image_answers_a_name_that_no_file_can_have() -> None:
    with pytest.raises(ImageError, match="expected a file"):
        read_image("a\0b.jpg")


def test_resize_enlarges_by_bilinear_interpolation_between_pixel_centres() -> None:
    assert red(resize(read_image(np.array([[0, 100]], np.uint8)), (1, 4))) == [[0, 25, 75, 100]]


def test_resize_smooths_where_it_shrinks() -> None:
    # A triangle two pixels wide to each side: (0.75 * 0 + 0.75 * 100 + 0.25 * 0) / 1.75 = 42.9, and mirrored.
    assert red(resize(read_image(np.array([[0, 100, 0, 100]], np.uint8)), (1, 2))) == [[43, 57]]


def test_resize_takes_height_before_width() -> None:
    assert resize(Image.new("RGB", (9, 9)), (3, 5)).size == (5, 3)


def test_resize_refuses_an_empty_size() -> None:
    with pytest.raises(ParameterError, match=re.escape("resize: expected a height and width above 0, got (0, 5)")):
        resize(Image.new("RGB", (9, 9)), (0, 5))


@pytest.mark.parametrize(
    ("size", "expected"), [((451, 300), (48, 32)), ((300, 451), (32, 48)), ((7, 7), (32, 32)), ((1000, 999), (32, 32))]
)
def test_resize_shorter_keeps_the_proportions(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert resize_shorter(Image.new("RGB", size), 32).size == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((2, 3), [[10, 20, 30], [40, 50, 60]]),
        ((2, 1), [[20], [50]]),
        ((1, 1), [[20]]),  # (2 - 1) / 2 = 0.5 rows is rounded to the even 0
        ((2, 2), [[10, 20], [40, 50]]),
    ],
)
def test_centre_crop_takes_the_middle(size: tuple[int, int], expected: list[list[int]]) -> None:
    assert red(centre_crop(read_image(STORED), size)) == expected


def test_centre_crop_rounds_one_and_a_half_to_two() -> None:
    assert red(centre_crop(read_image(np.array([[1, 2, 3, 4]], np.uint8)), (1, 1))) == [[3]]


def test_centre_crop_refuses_more_than_there_is() -> None:
    with pytest.raises(ShapeError, match=re.escape("centre_crop: expected 1 <= size <= the picture's 2x3, got 3x3")):
        centre_crop(read_image(STORED), (3, 3))


def test_normalise_puts_channels_first() -> None:
    pixels = np.array([[[0, 51, 255], [51, 102, 0]]], np.uint8)  # one row of two pixels
    x = normalise(Image.fromarray(pixels), mean=(0, 0.2, 0.5), std=(1, 0.4, 0.25))
    assert x.dtype == np.float32
    assert x.flags.c_contiguous
    np.testing.assert_allclose(x, [[[[0, 0.2]], [[0, 0.5]], [[2, -2]]]], atol=1e-6)
