"""Answers drawn onto the photo: boxes with their labels, regions with their legend.

Lines and letters grow with the photo. A class has the same colour on every picture. The first seven colours are those
of Okabe and Ito (2002), "Color Universal Design"; the others were chosen so that any two of the 24 differ by at least 9
of CIEDE2000, for normal vision and for the three kinds of colour blindness. The 25th class begins with the first again.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple, cast
from unicodedata import combining, normalize

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from kuiper.errors import ParameterError, ShapeError
from kuiper.models.pictures.preprocess import to_rgb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.models.tasks.detection import Detection
    from kuiper.models.tasks.segmentation import Segmentation

Colour = tuple[int, int, int]
Legend = list[tuple[str, Colour | None]]
"""Texts and the colours they explain; None is the photo's own."""

_PALETTE = bytes.fromhex(
    "e69f00 56b4e9 009e73 f0e442 0072b2 d55e00 cc79a7 883311 aaeeff 223366 99cc88 886644 "
    "eeeebb 664433 aa6688 8877ff aa3388 0000dd ddeedd 443333 ccaaaa 666666 444455 bbbbcc"
)
_BLACK, _WHITE, _GREY = (0, 0, 0), (255, 255, 255), (128, 128, 128)


class Rectangle(NamedTuple):
    """Whole pixels; ``right`` and ``bottom`` are the first that do not belong to it."""

    left: int
    top: int
    right: int
    bottom: int

    def meets(self, other: Rectangle) -> bool:
        """Whether a pixel belongs to both."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def drawn(self) -> tuple[int, int, int, int]:
        """As Pillow wants it: its corners belong to it."""
        return self.left, self.top, self.right - 1, self.bottom - 1


def draw_detections(photo: Image.Image, detections: Sequence[Detection]) -> Image.Image:
    """A copy of the photo, in RGB, with a box and a label for each detection; the first detection lies on top.

    Labels stand above their boxes, or where there is room. One that is longer than the photo is left out.

    Parameters
    ----------
    photo : a picture of any mode
    detections : what a ``Detector`` found on it

    Returns
    -------
    A picture of the size of the photo.

    Examples
    --------
    >>> from kuiper.models import Detection
    >>> photo = Image.new("RGB", (320, 240))
    >>> draw_detections(photo, [Detection("cat", 0, 0.9, (20, 60, 200, 220))]).getpixel((20, 60))
    (230, 159, 0)
    """
    picture = to_rgb(photo).copy()
    pen = ImageDraw.Draw(picture)
    letters = _letters_for(picture)
    thickness = max(1, round(sqrt(picture.width * picture.height) / 220))
    boxes = [_whole(detection.box, picture.size) for detection in detections]
    for box, detection in reversed(list(zip(boxes, detections, strict=True))):
        _draw_box(pen, box, colour_of(detection.class_id), thickness)
    plates: list[Rectangle] = []
    for box, detection in zip(boxes, detections, strict=True):
        for text in (f"{detection.label} {detection.score:.2f}", detection.label):
            plate = _place(box, (letters.width(text), letters.height), picture.size, plates)
            if plate:
                colour = colour_of(detection.class_id)
                pen.rectangle(plate.drawn(), fill=colour)
                letters.write(pen, plate.left, plate.top, text, ink_on(colour))
                plates.append(plate)
                break
    return picture


def draw_regions(photo: Image.Image, segmentation: Segmentation, alpha: float = 0.5) -> Image.Image:
    """The photo under the colours of its regions, and below it a legend of those it has, the largest first.

    Borders between regions are opaque. A region named "background" keeps the photo's own colours.

    Parameters
    ----------
    photo : a picture of any mode
    segmentation : what a ``Segmenter`` saw on it
    alpha : how opaque the colours are, 0 to 1

    Returns
    -------
    A picture in RGB as wide as the photo, and higher by the legend.

    Raises
    ------
    ParameterError
        If ``alpha`` is not within 0 and 1.
    ShapeError
        If the regions are those of a photo of another size.

    Examples
    --------
    >>> from kuiper.models import Segmentation
    >>> regions = Segmentation(("sky", "sea"), np.zeros((240, 320), np.uint8))
    >>> draw_regions(Image.new("RGB", (320, 240)), regions, alpha=1).getpixel((20, 60))
    (230, 159, 0)
    """
    regions = segmentation.map
    if not 0 <= alpha <= 1:
        raise ParameterError("draw_regions", "alpha from 0 to 1", alpha)
    if regions.shape != (photo.height, photo.width):
        raise ShapeError("draw_regions", f"regions of shape {(photo.height, photo.width)}", regions.shape)
    border = np.zeros(regions.shape, bool)
    border[:, 1:] |= regions[:, 1:] != regions[:, :-1]
    border[1:, :] |= regions[1:, :] != regions[:-1, :]
    coloured = np.array([not is_background(label) for label in segmentation.labels])[regions]
    opacity = np.where(border, np.uint8(255), np.uint8(round(255 * alpha))) * coloured
    colours = np.array([colour_of(i) for i in range(len(segmentation.labels))], np.uint8)[regions]
    picture = Image.composite(Image.fromarray(colours), to_rgb(photo), Image.fromarray(opacity))
    legend: Legend = [
        (f"{region.label}: {region.share:.1%}", None if is_background(region.label) else colour_of(region.class_id))
        for region in segmentation.regions()
    ]
    return _with_legend(picture, legend)


def colour_of(class_id: int) -> Colour:
    """The colour of a class.

    >>> colour_of(0), colour_of(24) == colour_of(0)
    ((230, 159, 0), True)
    """
    first = 3 * class_id % len(_PALETTE)
    red, green, blue = _PALETTE[first : first + 3]
    return red, green, blue


def ink_on(colour: Colour) -> Colour:
    """Black or white: that which stands out more, by the contrast ratio of WCAG 2.

    >>> ink_on((240, 228, 66)), ink_on((0, 114, 178))
    ((0, 0, 0), (255, 255, 255))
    """
    channels = (level / 255 for level in colour)
    linear = [level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return _BLACK if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else _WHITE


def is_background(label: str) -> bool:
    """Whether a region of this name is what lies behind all things.

    >>> is_background("__background__"), is_background("sky")
    (True, False)
    """
    return label.strip("_ ").lower() == "background"


class _Letters:
    """Text in one size, and the room it takes with some air to the left and right.

    Pillow's own font has the letters of ASCII only, so accents are dropped.
    """

    def __init__(self, size: int) -> None:
        self.font = cast("ImageFont.FreeTypeFont", ImageFont.load_default(size))
        self.height = sum(self.font.getmetrics())
        self.air = self.height // 5

    def width(self, text: str) -> int:
        return ceil(self.font.getlength(_without_accents(text))) + 2 * self.air

    def write(self, pen: ImageDraw.ImageDraw, left: int, top: int, text: str, ink: Colour) -> None:
        pen.text((left + self.air, top), _without_accents(text), fill=ink, font=self.font)


def _without_accents(text: str) -> str:
    return "".join(letter for letter in normalize("NFKD", text) if not combining(letter))


@lru_cache(maxsize=8)
def _letters(size: int) -> _Letters:
    return _Letters(size)


def _letters_for(picture: Image.Image) -> _Letters:
    return _letters(min(max(12, round(sqrt(picture.width * picture.height) / 32)), 200))


def _whole(box: tuple[float, float, float, float], size: tuple[int, int]) -> Rectangle:
    """The pixels of a box, at least one, within the picture (width, height)."""
    width, height = size
    left, top = min(max(round(box[0]), 0), width - 1), min(max(round(box[1]), 0), height - 1)
    return Rectangle(left, top, max(min(round(box[2]), width), left + 1), max(min(round(box[3]), height), top + 1))


def _draw_box(pen: ImageDraw.ImageDraw, box: Rectangle, colour: Colour, thickness: int) -> None:
    """The line lies within the box, so the picture's edge cuts nothing off. Around it, outside and inside, runs a thin
    one in black or white, for boxes on things of their own colour."""
    halo = max(1, thickness // 3)
    around = Rectangle(box.left - halo, box.top - halo, box.right + halo, box.bottom + halo)
    pen.rectangle(around.drawn(), outline=ink_on(colour), width=2 * halo + thickness)
    pen.rectangle(box.drawn(), outline=colour, width=thickness)


def _place(
    box: Rectangle, size: tuple[int, int], picture: tuple[int, int], taken: Sequence[Rectangle]
) -> Rectangle | None:
    """Where a plate (width, height) goes: above its box, below it, or into it; None if the picture is too small."""
    width, height = size
    if width > picture[0] or height > picture[1]:
        return None
    left = min(box.left, picture[0] - width)
    tops = [top for top in (box.top - height, box.bottom, box.top) if 0 <= top <= picture[1] - height]
    places = [Rectangle(left, top, left + width, top + height) for top in tops or [picture[1] - height]]
    free = (place for place in places if not any(place.meets(other) for other in taken))
    return next(free, places[0])


def _with_legend(picture: Image.Image, legend: Legend) -> Image.Image:
    """The picture, and on white below it a coloured square and a text for each entry, in as many lines as it takes."""
    letters = _letters_for(picture)
    square, height = letters.height * 2 // 3, letters.height * 3 // 2
    widths = [square + letters.air + letters.width(text) for text, _ in legend]
    room = max(picture.width, letters.air + max(widths))
    places, left, top = [], letters.air, picture.height
    for width in widths:
        if left + width > room:
            left, top = letters.air, top + height
        places.append((left, top))
        left += width
    sheet = Image.new("RGB", (room, top + height), _WHITE)
    sheet.paste(picture)
    pen = ImageDraw.Draw(sheet)
    for (text, colour), (left, top) in zip(legend, places, strict=True):
        upper = top + (height - square) // 2
        pen.rectangle((left, upper, left + square - 1, upper + square - 1), fill=colour, outline=colour or _GREY)
        letters.write(pen, left + square, top + (height - letters.height) // 2, text, _BLACK)
    return sheet
