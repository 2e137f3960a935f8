"""Which texts of a lecture's stored pictures another language replaces: what redrawn_pictures.py draws.

Each picture is read back from the site's form. Its texts in English are taken out where the catalogue has others; a
second drawing without them says of what colour their places are then.
"""

from __future__ import annotations

import base64
import io
import json
import re
import xml.etree.ElementTree as ET
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from kuiper.course.errors import CourseError
from kuiper.course.material import SITE_FORM, picture_digest
from kuiper.course.picture_words import into
from kuiper.course.pictures.picture import LETTER, QUOTED, TEXT, broken
from kuiper.course.redrawn_pictures import FONT, Text, form_digest, images, pictures_file
from kuiper.course.stored_forms import read_form
from kuiper.course.stored_pictures import ZOOM, rendered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SVG = "{http://www.w3.org/2000/svg}"
_COLOURS = {"kp-ink": "#1d2126", "kp-faint": "#666b72"}
_MOVED = re.compile(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)")
_STYLE = re.compile(r"font(?:-size)?: (?:[a-z]+ )*([\d.]+)px|text-anchor: (\w+)|fill: (#\w+)")
_WIDEST = 1.1  # letters of a chart may be so much wider than those of other pictures
_BLACK = "#000000"

ET.register_namespace("", _SVG[1:-1])
ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def write_pictures(source: Path, language: str) -> int:
    """Write the file of a lecture's pictures in a language; how many pictures it has.

    Raises
    ------
    CourseError
        If a text does not fit into the picture, or the font lacks a letter.
    """
    lecture = json.loads(source.read_text(encoding="utf-8"))
    found = drawn_over(lecture, into(language))
    path = pictures_file(source, language)
    texts = [text for entry in found.values() for text in entry["texts"]]
    _check_letters(path.parent / FONT, set("".join(text.words for text in texts)))
    lines = (f" {json.dumps(key)}: {json.dumps(entry, ensure_ascii=False)}" for key, entry in found.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return len(found)


def drawn_over(lecture: dict[str, Any], say: Callable[[str], str]) -> dict[str, dict[str, Any]]:
    """For each stored picture that has a text which ``say`` changes: what is to be cleared, and the new texts."""
    found = {}
    for key, output, kind in images(lecture):
        form = "".join(output["data"].get(SITE_FORM, ""))
        english = read_form(form) if form else None
        if english is None or english.said(say) == english:
            continue
        data = "".join(output["data"][kind])
        said = english.said(say)
        found[key] = {"of": picture_digest(data), "shows": form_digest(said.html()), "alt": said.alt}
        found[key] |= _changes(english.still().svg(), say, base64.b64decode(data))
    return found


def _changes(svg: str, say: Callable[[str], str], data: bytes) -> dict[str, Any]:
    """The places to be cleared in a picture and the texts that come into it."""
    root = ET.fromstring(svg)
    places: list[tuple[float, float, float, float]] = []
    texts: list[Text] = []
    _take(root, (0.0, 0.0), "middle", float(TEXT), say, places, texts)
    if not places:
        return {"cleared": [], "texts": []}
    before, after = (_points(picture) for picture in (svg, ET.tostring(root, encoding="unicode")))
    with Image.open(io.BytesIO(data), formats=["PNG", "JPEG"]) as image:
        below = _as_stored(after, image)
    missed = (before != after).any(axis=2)
    height, width = missed.shape
    cleared, kept = [], []
    for place in places:
        left, top, right, bottom = (round(ZOOM * side) for side in place)
        left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
        missed[top:bottom, left:right] = False
        part = below[top:bottom, left:right]
        if (part == part[0, 0]).all():
            cleared.append([left, top, right, bottom, part[0, 0].tolist()])
        else:
            cleared.append([left, top, right, bottom, None])
            kept.append(part.tobytes())
    if missed.any():
        raise CourseError("pictures", "texts inside of their places", f"{int(missed.sum())} points outside")
    found: dict[str, Any] = {"cleared": cleared, "texts": texts}
    if kept:
        found["below"] = base64.b64encode(zlib.compress(b"".join(kept), 9)).decode()
    return found


def _take(
    node: ET.Element,
    origin: tuple[float, float],
    anchor: str,
    size: float,
    say: Callable[[str], str],
    places: list[tuple[float, float, float, float]],
    texts: list[Text],
) -> None:
    """Take the texts that change out of a part of a picture."""
    anchor, size = node.get("text-anchor", anchor), float(node.get("font-size", size))
    if moved := _MOVED.search(node.get("transform", "")):
        origin = origin[0] + float(moved[1]), origin[1] + float(moved[2])
    said = node.get("data-said")
    lines = broken(say(said), float(node.get("data-width", 0))) if said and say(said) != said else []
    if lines and len(lines) > len(node):
        raise CourseError("pictures", f"a caption of at most {len(node)} lines", f"{len(lines)}: {lines}")
    for number, child in enumerate(list(node)):
        if child.tag != f"{_SVG}text":
            _take(child, origin, anchor, size, say, places, texts)
            continue
        old = child.text or ""
        new = old if said or QUOTED.split("=")[0] in child.attrib else say(old)
        if lines:
            new = lines[number] if number < len(lines) else ""
        if new != old:
            text = _text(child, origin, anchor, size, new)
            places.append(_place(text, old))
            texts += [text] if new else []
            node.remove(child)


def _text(node: ET.Element, origin: tuple[float, float], anchor: str, size: float, words: str) -> Text:
    """A text with the place and the style of an element."""
    colour, anchor = _COLOURS.get(node.get("class", ""), _BLACK), node.get("text-anchor", anchor)
    for found in _STYLE.finditer(node.get("style", "")):
        size, anchor, colour = float(found[1] or size), found[2] or anchor, found[3] or colour
    moved = _MOVED.search(node.get("transform", ""))
    across, down = (float(moved[1]), float(moved[2])) if moved else (0.0, 0.0)
    x = round(origin[0] + across + float(node.get("x", 0)), 1)
    y = round(origin[1] + down + float(node.get("y", 0)), 1)
    is_upright = "rotate(-90" in node.get("transform", "")
    return Text(x, y, anchor, size, colour, node.get("font-weight") == "bold", is_upright, words)


def _place(text: Text, old: str) -> tuple[float, float, float, float]:
    """The rectangle that an old text has taken."""
    width = _WIDEST * LETTER / TEXT * text.size * len(old) + 4
    first = {"start": -2.0, "middle": -width / 2, "end": 2 - width}[text.anchor]
    above, below = 1.0 * text.size, 0.4 * text.size
    if text.is_upright:
        return text.x - above, text.y - first - width, text.x + below, text.y - first
    return text.x + first, text.y - above, text.x + first + width, text.y + below


def _points(svg: str) -> np.ndarray:
    with Image.open(io.BytesIO(rendered(svg)), formats=["PNG"]) as image:
        return np.asarray(image.convert("RGBA"))


def _as_stored(points: np.ndarray, image: Image.Image) -> np.ndarray:
    """Points in the colours of a stored picture: as numbers of its palette, or as red, green and blue."""
    if image.format == "JPEG":
        return points[..., :3]
    shape = points.shape[:2]
    palette = np.array(image.getpalette("RGBA"), float).reshape(-1, 4)[: int(np.asarray(image).max()) + 1]
    packed, which = np.unique(np.ascontiguousarray(points).view(np.uint32).ravel(), return_inverse=True)
    colours = packed.view(np.uint8).reshape(-1, 4).astype(float)
    nearest = ((colours[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
    stored: np.ndarray = nearest[which.ravel()].reshape(shape).astype(np.uint8)
    return stored


def _check_letters(font: Path, letters: set[str]) -> None:
    """Raise CourseError if the font lacks letters."""
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    lacking = sorted(letters - set(map(chr, TTFont(font).getBestCmap())))
    if lacking:
        hint = "python packaging/subset_font.py"
        raise CourseError(str(font), "a font with all letters of the pictures", "".join(lacking), hint)
