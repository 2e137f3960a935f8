"""The letterbox: sizes by Ultralytics' formula, pixels beside bilinear sampling, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ParameterError, ShapeError
from kuiper.models import Letterbox, bundled_photo

Size = tuple[int, int]


@pytest.mark.parametrize(
    ("photo", "box", "expected"),
    [
        ((300, 450), (640, 640), (640 / 450, (427, 640), 106, 0)),
        ((10, 20), (8, 8), (0.4, (4, 8), 2, 0)),
        ((5, 8), (8, 8), (1.0, (5, 8), 1, 0)),  # of three rows that are left two go below
        ((640, 640), (640, 640), (1.0, (640, 640), 0, 0)),
        ((1, 1), (320, 320), (320.0, (320, 320), 0, 0)),
        ((3, 10000), (640, 640), (0.064, (1, 640), 319, 0)),  # 3 * 0.064 rounds to no row at all
    ],
)
def test_fit_by_hand(photo: Size, box: Size, expected: tuple[float, Size, int, int]) -> None:
    frame = Letterbox.fit(photo, box)
    assert (frame.scale, frame.new_size, frame.top, frame.left) == expected


def test_fit_splits_the_rest_as_ultralytics_does() -> None:
    generator = np.random.default_rng(1)
    for height, width, box_h, box_w in generator.integers(1, 900, (500, 4)).tolist():
        frame = Letterbox.fit((height, width), (box_h, box_w))
        rest_h, rest_w = box_h - frame.new_size[0], box_w - frame.new_size[1]
        assert (frame.top, frame.left) == (round(rest_h / 2 - 0.1), round(rest_w / 2 - 0.1))
        assert box_h - frame.top - frame.new_size[0] == round(rest_h / 2 + 0.1)
        assert 0 in (rest_h, rest_w)


def test_fit_leaves_a_small_photo_as_it_is_if_told_to() -> None:
    frame = Letterbox.fit((10, 20), (40, 40), scale_up=False)
    assert (frame.scale, frame.new_size, frame.top, frame.left) == (1.0, (10, 20), 15, 10)
    assert Letterbox.fit((100, 50), (40, 40), scale_up=False) == Letterbox.fit((100, 50), (40, 40))


def test_fit_refuses_an_empty_side() -> None:
    with pytest.raises(ParameterError, match="letterbox: expected sides above 0"):
        Letterbox.fit((0, 5), (8, 8))


def test_apply_puts_grey_around_the_photo() -> None:
    framed = np.asarray(Letterbox.fit((2, 4), (5, 4)).apply(Image.new("RGB", (4, 2), (10, 20, 30))))
    assert framed.shape == (5, 4, 3)
    assert (framed[[0, 3, 4]] == 114).all()
    assert (framed[1:3] == (10, 20, 30)).all()


def test_apply_takes_another_colour_and_any_mode() -> None:
    framed = Letterbox.fit((1, 2), (2, 2)).apply(Image.new("L", (2, 1), 7), fill=0)
    assert np.asarray(framed).tolist() == [[[7] * 3] * 2, [[0] * 3] * 2]


@pytest.mark.parametrize("box", [(160, 160), (64, 96), (640, 640), (300, 451)])
def test_apply_samples_as_bilinear_interpolation_without_smoothing(box: Size) -> None:
    with Image.open(bundled_photo()) as photo:
        frame = Letterbox.fit((photo.height, photo.width), box)
        height, width = frame.new_size
        inside = np.asarray(frame.apply(photo))[frame.top : frame.top + height, frame.left : frame.left + width]
        expected = bilinear(np.asarray(photo), height, width)
    difference = expected - inside
    assert difference.min() > -0.01
    assert difference.max() < 1.01  # Pillow cuts fractions off


def bilinear(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """Sampled at the centres of the new pixels, between the centres of the old ones."""
    rows, columns = (
        np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        for old, new in zip(pixels.shape[:2], (height, width), strict=True)
    )
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    bottom, right = np.minimum(top + 1, len(pixels) - 1), np.minimum(left + 1, pixels.shape[1] - 1)
    down, across = (rows - top)[:, None, None], (columns - left)[None, :, None]
    values = pixels.astype(float)
    upper = values[top][:, left] * (1 - across) + values[top][:, right] * across
    lower = values[bottom][:, left] * (1 - across) + values[bottom][:, right] * across
    return upper * (1 - down) + lower * down


def test_apply_refuses_another_photo() -> None:
    with pytest.raises(ShapeError, match=r"expected a photo of \(height, width\) \(10, 20\), got \(20, 10\)"):
        Letterbox.fit((10, 20), (8, 8)).apply(Image.new("RGB", (10, 20)))


@pytest.mark.parametrize("size", [(1, 1), (3, 10000), (10000, 3)])
def test_apply_takes_photos_of_extreme_shapes(size: Size) -> None:
    framed = Letterbox.fit(size, (64, 64)).apply(Image.new("RGB", size[::-1], "red"))
    assert framed.size == (64, 64)
    assert (254, 0, 0) <= framed.getpixel((31, 31)) <= (255, 0, 0)


def test_to_photo_by_hand() -> None:
    frame = Letterbox.fit((20, 40), (24, 20))  # scale 0.5, 7 rows of grey above
    boxes = np.float32([[2, 9, 6, 12], [-5, 0, 3, 8], [10, 16, 30, 30]])
    assert frame.to_photo(boxes).tolist() == [[4, 4, 12, 10], [0, 0, 6, 2], [20, 18, 40, 20]]


def test_to_photo_refuses_what_are_no_boxes() -> None:
    with pytest.raises(ShapeError, match=r"letterbox: expected boxes \(n, 4\), got \(3,\)"):
        Letterbox.fit((20, 40), (24, 20)).to_photo(np.zeros(3, np.float32))


@pytest.mark.torch
def test_to_photo_is_what_torch_computes() -> None:
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(2)
    for height, width, box_h, box_w in generator.integers(1, 900, (50, 4)).tolist():
        frame = Letterbox.fit((height, width), (box_h, box_w))
        boxes = generator.uniform(-50, 950, (40, 4)).astype(np.float32)
        expected = torch.tensor(boxes)
        expected[:, [0, 2]] -= frame.left
        expected[:, [1, 3]] -= frame.top
        expected /= frame.scale
        expected[:, [0, 2]] = expected[:, [0, 2]].clamp(0, width)
        expected[:, [1, 3]] = expected[:, [1, 3]].clamp(0, height)
        np.testing.assert_array_equal(frame.to_photo(boxes), expected.numpy())
