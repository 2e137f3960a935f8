"""The stored pictures of a lecture in another language: drawn over the English ones, text by text.

``notebooks/zh/pictures/NAME.json`` says for each picture which rectangles are to be cleared, of what colour they are
then, and which texts come into them; a font beside it has the letters. It is made by kuiper/course/picture_texts.py.
When the English picture has changed, it does not fit any more, and a reader gets the English one.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from kuiper.bounded_file import read_json
from kuiper.course.errors import CourseError
from kuiper.course.material import DRAWN, picture_digest
from kuiper.course.stored_pictures import IMAGES, QUALITY, ZOOM, indexed_png

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FONT = "NotoSansCJKsc-subset.otf"
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
_STEPS = 16  # of how much of a point a letter covers
_LEVEL = 8  # of zlib: a reader waits for these; 9 takes 2.7 times as long, for a hundredth of the bytes


class Text(NamedTuple):
    """A text: where its ``anchor`` is, in points of the picture; the height of its letters; how it is turned."""

    x: float
    y: float
    anchor: str
    size: float
    colour: str
    is_bold: bool
    is_upright: bool  # runs from the bottom to the top
    words: str


def pictures_file(source: Path, language: str) -> Path:
    """Where the pictures of a lecture stand in another language."""
    return source.parent / language / "pictures" / f"{source.stem}.json"


def form_digest(form: str) -> str:
    """What tells whether the site's form of a picture, in another language, is still what was drawn."""
    return hashlib.sha256(form.encode()).hexdigest()[:12]


def drawn_digest(entry: dict[str, Any], font: Path) -> str:
    """What tells whether a picture is drawn of the same: the English one, what is cleared, the texts, the letters."""
    parts = {name: entry.get(name) for name in ("of", "cleared", "below", "texts")}
    return form_digest(json.dumps([parts, _font_digest(font)], sort_keys=True))


def images(lecture: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The stored pictures: a key for each, its output, and its kind."""
    for cell in lecture["cells"]:
        for number, output in enumerate(cell.get("outputs", [])):
            for kind in set(IMAGES) & set(output.get("data", {})):
                yield f"{cell['id']} {number}", output, kind


def put_pictures(lecture: dict[str, Any], source: Path, language: str) -> None:
    """Put the stored pictures of a lecture into a language, as far as they were drawn in it.

    Raises
    ------
    CourseError
        If the file of the pictures cannot be read.
    """
    path = pictures_file(source, language)
    if not path.is_file():
        return
    known = read_json(path, CourseError, "pictures of a lecture")
    for key, output, kind in images(lecture):
        data, entry = "".join(output["data"][kind]), known.get(key)
        if entry and entry["of"] == picture_digest(data):
            if entry["texts"] or entry["cleared"]:
                pixels = redrawn(base64.b64decode(data), kind, entry, path.parent / FONT)
                output["data"][kind] = base64.b64encode(pixels).decode()
                output["metadata"][kind][DRAWN] = drawn_digest(entry, path.parent / FONT)
            output["metadata"][kind]["alt"] = entry["alt"]


def redrawn(data: bytes, kind: str, entry: dict[str, Any], font: Path) -> bytes:
    """A picture with its new texts, in the form of the old one."""
    with Image.open(io.BytesIO(data), formats=["PNG", "JPEG"]) as image:
        if kind == "image/jpeg":
            points = np.asarray(image.convert("RGB")).copy()
            _clear(points, entry)
            for words in entry["texts"]:
                _write_colours(points, Text(*words), font)
            file = io.BytesIO()
            Image.fromarray(points).save(file, "jpeg", quality=QUALITY, optimize=True, progressive=True)
            return file.getvalue()
        points = np.asarray(image).copy()
        palette = np.array(image.getpalette("RGBA"), float).reshape(-1, 4)[: int(points.max()) + 1]
    _clear(points, entry)
    nearest: dict[tuple[str, int], np.ndarray] = {}
    for words in entry["texts"]:
        _write_indices(points, palette, Text(*words), font, nearest)
    return indexed_png(palette, points, _LEVEL)


def _clear(points: np.ndarray, entry: dict[str, Any]) -> None:
    """What the picture has below its texts."""
    below = np.frombuffer(zlib.decompress(base64.b64decode(entry["below"])) if "below" in entry else b"", np.uint8)
    used = 0
    for left, top, right, bottom, colour in entry["cleared"]:
        place = points[top:bottom, left:right]
        if colour is None:
            place[...] = below[used : used + place.size].reshape(place.shape)
            used += place.size
        else:
            place[...] = colour


def _write_colours(points: np.ndarray, text: Text, font: Path) -> None:
    """Draw a text into red, green and blue."""
    place, covered = _covered(points, text, font)
    share = (covered / 255)[..., None]
    colour = np.array(ImageColor.getrgb(text.colour), float)
    points[place] = np.rint(points[place] * (1 - share) + colour * share).astype(np.uint8)


def _write_indices(
    points: np.ndarray, palette: np.ndarray, text: Text, font: Path, nearest: dict[tuple[str, int], np.ndarray]
) -> None:
    """Draw a text into a picture with a palette, in the colours that the palette has."""
    place, covered = _covered(points, text, font)
    steps = np.rint(covered * ((_STEPS - 1) / 255)).astype(int)
    below = points[place]
    shares = np.linspace(0, 1, _STEPS)[:, None]
    colour = np.array([*ImageColor.getrgb(text.colour), 255], float)
    for index in np.unique(below[steps > 0]):
        if (text.colour, int(index)) not in nearest:
            wanted = palette[index] * (1 - shares) + colour * shares
            distances = ((wanted[:, None] - palette) ** 2).sum(axis=2)
            nearest[text.colour, int(index)] = distances.argmin(axis=1).astype(np.uint8)
        chosen = (below == index) & (steps > 0)
        below[chosen] = nearest[text.colour, int(index)][steps[chosen]]
    points[place] = below


def _covered(points: np.ndarray, text: Text, font: Path) -> tuple[tuple[slice, slice], np.ndarray]:
    """The rectangle that a text needs, as far as it is inside, and how much of each point its letters cover, to 255."""
    letters, anchor = _font(str(font), ZOOM * text.size), _ANCHORS[text.anchor]
    left, top, right, bottom = (int(side) for side in letters.getbbox(text.words, anchor=anchor))
    left, top, right, bottom = left - 1, top - 1, right + 2, bottom + 1
    canvas = Image.new("L", (right - left, bottom - top))
    for shift in (0, 1) if text.is_bold else (0,):
        ImageDraw.Draw(canvas).text((shift - left, -top), text.words, 255, letters, anchor)
    covered = np.asarray(canvas)
    x, y = round(ZOOM * text.x) + left, round(ZOOM * text.y) + top
    if text.is_upright:
        covered = np.rot90(covered)
        x, y = round(ZOOM * text.x) + top, round(ZOOM * text.y) - right
    height, width = points.shape[:2]
    inside = covered[max(-y, 0) : max(height - y, 0), max(-x, 0) : max(width - x, 0)]
    place = slice(max(y, 0), max(y, 0) + inside.shape[0]), slice(max(x, 0), max(x, 0) + inside.shape[1])
    return place, inside


@lru_cache(maxsize=2)
def _font_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@lru_cache(maxsize=8)
def _font(path: str, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, round(size))
