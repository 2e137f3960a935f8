"""What is drawn stays on the picture and can be read."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from kuiper.errors import ParameterError, ShapeError
from kuiper.models import Detection, Segmentation, draw_detections, draw_regions
from kuiper.models.tasks.drawing import Rectangle, _place, colour_of, ink_on, is_background

GREY = (90, 90, 90)


def photo(width: int = 320, height: int = 240) -> Image.Image:
    return Image.new("RGB", (width, height), GREY)


def changed(picture: Image.Image) -> np.ndarray:
    return (np.asarray(picture) != GREY).any(axis=2)


def of_colour(picture: Image.Image, colour: tuple[int, int, int]) -> np.ndarray:
    return (np.asarray(picture) == colour).all(axis=2)


def test_draw_detections_draws_all_four_edges_within_the_box() -> None:
    box = of_colour(draw_detections(photo(), [Detection("cat", 4, 0.5, (100, 60, 200.4, 159.6))]), colour_of(4))
    assert box[60:160, 100].all()
    assert box[60:160, 199].all()
    assert box[60, 100:200].all()
    assert box[159, 100:200].all()
    assert not box[100, 110:190].any()
    assert not box[160:].any()


def test_draw_detections_leaves_the_photo_alone() -> None:
    before = photo()
    assert draw_detections(before, []) is not before
    draw_detections(before, [Detection("cat", 4, 0.5, (0, 0, 320, 240))])
    assert not changed(before).any()


@pytest.mark.parametrize("corner", [(0, 0, 30, 20), (290, 0, 320, 20), (0, 220, 30, 240), (290, 220, 320, 240)])
def test_draw_detections_keeps_box_and_label_on_the_picture(corner: tuple[float, float, float, float]) -> None:
    """In a corner there is as much to see as in the middle."""
    for name in ("cat", "a rather long label"):
        in_corner = draw_detections(photo(), [Detection(name, 4, 0.5, corner)])
        middle = draw_detections(photo(), [Detection(name, 4, 0.5, (150, 100, 180, 120))])
        coloured = of_colour(in_corner, colour_of(4)).sum()
        assert coloured >= of_colour(middle, colour_of(4)).sum() - 40  # where label and edge lie on each other
        assert of_colour(in_corner, ink_on(colour_of(4))).sum() > 20


def test_draw_detections_draws_the_first_on_top() -> None:
    first, last = Detection("a", 1, 0.9, (50, 50, 150, 150)), Detection("b", 2, 0.3, (50, 50, 150, 150))
    assert of_colour(draw_detections(photo(), [first, last]), colour_of(1))[100, 50]
    assert of_colour(draw_detections(photo(), [last, first]), colour_of(2))[100, 50]


def test_draw_detections_lets_labels_make_room_for_each_other() -> None:
    place = Rectangle(50, 100, 150, 150)
    above = _place(place, (60, 20), (320, 240), [])
    assert above == (50, 80, 110, 100)
    below = _place(place, (60, 20), (320, 240), [above])
    assert below == (50, 150, 110, 170)
    within = _place(place, (60, 20), (320, 240), [above, below])
    assert within == (50, 100, 110, 120)
    assert _place(place, (60, 20), (320, 240), [above, below, within]) == above


def test_place_moves_a_label_away_from_the_edge() -> None:
    assert _place(Rectangle(300, 0, 320, 240), (60, 20), (320, 240), []) == (260, 0, 320, 20)
    assert _place(Rectangle(0, 0, 9, 9), (60, 20), (59, 240), []) is None
    assert _place(Rectangle(0, 0, 9, 9), (60, 20), (320, 19), []) is None


@pytest.mark.parametrize("size", [(1, 1), (32, 32), (10000, 3), (3, 10000)])
def test_draw_detections_takes_pictures_of_extreme_shapes(size: tuple[int, int]) -> None:
    drawn = draw_detections(
        photo(*size), [Detection("cat", 0, 0.5, (0, 0, *size)), Detection("dog", 1, 0.4, (0, 0, 0, 0))]
    )
    assert drawn.size == size
    assert drawn.getpixel((0, 0)) == colour_of(0)


def test_draw_detections_draws_more_on_a_larger_picture() -> None:
    shares = []
    for scale in (3, 12):
        box = tuple(scale * edge for edge in (100, 60, 200, 160))
        drawn = draw_detections(photo(320 * scale, 240 * scale), [Detection("cat", 0, 0.5, box)])  # type: ignore[arg-type]
        shares.append(changed(drawn).mean())
    assert shares[0] == pytest.approx(shares[1], rel=0.4)


def test_draw_detections_takes_photos_of_any_mode_and_labels_with_accents() -> None:
    drawn = draw_detections(Image.new("L", (320, 240)), [Detection("Bär", 0, 0.5, (50, 50, 100, 100))])
    assert (
        drawn.tobytes()
        == draw_detections(Image.new("L", (320, 240)), [Detection("Bar", 0, 0.5, (50, 50, 100, 100))]).tobytes()
    )


def test_colours_differ_and_stay_the_same() -> None:
    colours = [colour_of(i) for i in range(24)]
    assert len(set(colours)) == 24
    assert [colour_of(24 + i) for i in range(24)] == colours


@pytest.mark.parametrize("class_id", range(24))
def test_ink_has_a_contrast_of_at_least_4_5(class_id: int) -> None:
    """What WCAG 2 asks of text."""
    lighter, darker = sorted((luminance(colour_of(class_id)), luminance(ink_on(colour_of(class_id)))), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: tuple[int, int, int]) -> float:
    levels = np.array(colour) / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_draw_regions_blends_and_draws_borders() -> None:
    regions = np.zeros((100, 300), np.uint8)
    regions[:, 150:] = 1
    drawn = draw_regions(photo(300, 100), Segmentation(("sky", "sea"), regions), alpha=0.25)
    blended = 0.75 * np.array(GREY) + 0.25 * np.array(colour_of(0))
    np.testing.assert_allclose(drawn.getpixel((50, 50)), blended, atol=1)
    assert drawn.getpixel((150, 50)) == colour_of(1)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_draw_regions_from_nothing_to_opaque(alpha: float) -> None:
    drawn = draw_regions(photo(300, 100), Segmentation(("sky",), np.zeros((100, 300), np.uint8)), alpha)
    assert drawn.getpixel((50, 50)) == (colour_of(0) if alpha else GREY)


def test_draw_regions_refuses_what_does_not_fit() -> None:
    segmentation = Segmentation(("sky",), np.zeros((100, 300), np.uint8))
    with pytest.raises(ParameterError, match=r"draw_regions: expected alpha from 0 to 1, got 1.5"):
        draw_regions(photo(300, 100), segmentation, alpha=1.5)
    with pytest.raises(ShapeError, match=r"expected regions of shape \(300, 100\), got \(100, 300\)"):
        draw_regions(photo(100, 300), segmentation)


def test_draw_regions_leaves_the_background_as_it_is() -> None:
    regions = np.zeros((100, 300), np.uint8)
    regions[40:60, 140:160] = 1
    drawn = draw_regions(photo(300, 100), Segmentation(("__background__", "cat"), regions), alpha=1)
    assert changed(drawn)[:100].sum() == 20 * 20


def test_draw_regions_has_a_legend_of_what_is_there() -> None:
    few, many = (Segmentation(tuple(f"thing {i}" for i in range(20)), regions) for regions in legends())
    with_few, with_many = (draw_regions(photo(300, 100), one) for one in (few, many))
    assert with_few.size[0] == with_many.size[0] == 300
    assert 100 < with_few.size[1] < with_many.size[1]
    below = with_few.crop((0, 100, *with_few.size))
    assert of_colour(below, colour_of(3)).any()
    assert not of_colour(below, colour_of(4)).any()
    assert below.getpixel((299, below.height - 1)) == (255, 255, 255)


def legends() -> tuple[np.ndarray, np.ndarray]:
    return np.full((100, 300), 3, np.uint8), (np.arange(30000).reshape(100, 300) % 20).astype(np.uint8)


@pytest.mark.parametrize("size", [(1, 1), (10000, 3)])
def test_draw_regions_makes_room_for_its_legend(size: tuple[int, int]) -> None:
    drawn = draw_regions(photo(*size), Segmentation(("sky",), np.zeros(size[::-1], np.uint8)))
    assert drawn.size >= (max(size[0], 40), size[1] + 10)


def test_is_background_knows_its_names() -> None:
    assert [is_background(name) for name in ("background", "Background", "__background__", "back", "class 0")] == [
        True,
        True,
        True,
        False,
        False,
    ]
