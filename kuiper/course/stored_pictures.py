"""How the pictures of a lecture are stored: so that every viewer shows them, whether it trusts the notebook or not.

A viewer takes the form that it likes best of those that an output has, and only then asks whether it may show it:

    JupyterLab         of a notebook that it did not run itself: no SVG; HTML without <svg>, <style> and scripts
    VS Code            in a folder that is not trusted: no SVG, no HTML
    GitHub, nbviewer   prefer SVG and HTML, and take their rules of style away: black boxes

PNG and JPEG are what all of them show, if nothing that they would like better stands beside it. So a stored picture is
a PNG of two times its size, or a JPEG if there is a photo in it. What the site shows (SVG for light and dark, buttons
for steps) stands beside it under a name that no viewer knows.
"""

from __future__ import annotations

import base64
import io
import re
import struct
import zlib
from html import escape, unescape
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from kuiper.course.errors import CourseError
from kuiper.course.material import SITE_FORM, png_chunk

ZOOM = 2
IMAGES = ("image/png", "image/jpeg")
_COLOURS = (16, 48)  # a drawing has few: half a byte for each point is enough nearly always
_MAX_ERROR = 12.0  # mean of the squared differences, of values up to 255, up to which the smaller palette is taken
_ROUNDS = 20  # of k-means, after which no colour moves much
QUALITY = 80  # of a JPEG, in percent
_GROUND = "#f7f7f4"  # of kuiper/course/pictures/picture.py; a JPEG has nothing that can be seen through
_DARK_RULES = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\}")
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_DATA = re.compile(r"data:image/svg\+xml;base64,([\w+/=]+)")


def store_picture(output: Any) -> None:
    """Change an output of nbformat that has an SVG into the form that is stored; leave any other alone.

    Raises
    ------
    CourseError
        If the package resvg-py is missing.
    """
    data = output.get("data", {})
    if "image/svg+xml" not in data:
        return
    svg = str(data.pop("image/svg+xml"))
    kind, pixels, (width, height) = points(svg)
    alt = _alt(svg)
    data[kind] = base64.b64encode(pixels).decode()
    data[SITE_FORM] = data.pop("text/html", None) or _image(svg, alt)
    output.metadata[kind] = {"width": width, "height": height, "alt": alt}


def points(svg: str) -> tuple[str, bytes, tuple[int, int]]:
    """The picture on its light ground, two times as large: PNG or JPEG, its bytes, and the size at which to show it.

    Raises
    ------
    CourseError
        If the package resvg-py is missing.
    """
    with Image.open(io.BytesIO(rendered(svg)), formats=["PNG"]) as image:
        size = image.width // ZOOM, image.height // ZOOM
        small = io.BytesIO()
        if "<image" in svg:  # a photo: few colours would spoil it
            flat = Image.new("RGB", image.size, _GROUND)
            flat.paste(image, mask=image.getchannel("A"))
            flat.save(small, "jpeg", quality=QUALITY, optimize=True, progressive=True)
            return "image/jpeg", small.getvalue(), size
        return "image/png", drawing(image), size


def rendered(svg: str) -> bytes:
    """The picture as a PNG with all its colours, two times as large.

    Raises
    ------
    CourseError
        If the package resvg-py is missing.
    """
    try:
        import resvg_py
        from matplotlib import get_data_path
    except ImportError as error:
        raise CourseError("pictures", "resvg-py and matplotlib", str(error), "pip install -e '.[dev]'") from None
    fonts = Path(get_data_path(), "fonts", "ttf")
    pixels = resvg_py.svg_to_bytes(
        svg_string=_DARK_RULES.sub("", svg),
        zoom=ZOOM,
        skip_system_fonts=True,  # the same letters on every machine
        font_files=[str(path) for path in sorted(fonts.glob("DejaVuSans*.ttf"))],
        monospace_family="DejaVu Sans Mono",
        sans_serif_family="DejaVu Sans",
    )
    return bytes(pixels)


def drawing(image: Image.Image) -> bytes:
    """A PNG of a drawing with as few colours as nobody misses.

    Pillow's own palettes of 16 colours are visibly off, and what it writes is a sixth larger than what zlib can do.
    """
    points = np.asarray(image.convert("RGBA"))
    packed = points.reshape(-1, 4).copy().view(np.uint32).ravel()
    colours, which, counts = np.unique(packed, return_inverse=True, return_counts=True)
    shades = colours.view(np.uint8).reshape(-1, 4).astype(np.float64)
    for most in _COLOURS:
        palette, nearest = _palette(shades, counts, most)
        error = np.average(((palette[nearest] - shades) ** 2).mean(axis=1), weights=counts)
        if error <= _MAX_ERROR:
            break
    return indexed_png(palette, nearest[which].reshape(points.shape[:2]).astype(np.uint8))


def _palette(shades: np.ndarray, counts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """At most this many colours by k-means, and for each shade the one that is nearest to it.

    A shade counts by the root of its points: else the ground would outweigh the edges of all letters.
    """
    if len(shades) <= most:
        return shades, np.arange(len(shades))
    weights = np.sqrt(counts)
    palette = shades[[counts.argmax()]]
    while len(palette) < most:  # begin with shades that are far from all others
        distances = ((shades[:, None] - palette) ** 2).sum(axis=2).min(axis=1)
        palette = np.vstack([palette, shades[(distances * weights).argmax()]])
    for _ in range(_ROUNDS):
        nearest = ((shades[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
        for i in np.unique(nearest):
            palette[i] = np.average(shades[nearest == i], axis=0, weights=weights[nearest == i])
    nearest = ((shades[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
    for i in np.unique(nearest):  # large areas keep exactly their colour
        members = np.flatnonzero(nearest == i)
        main = members[counts[members].argmax()]
        if counts[main] > 0.01 * counts.sum():
            palette[i] = shades[main]
    return np.rint(palette), nearest


def indexed_png(palette: np.ndarray, indices: np.ndarray, level: int = 9) -> bytes:
    """A PNG of 4 or 8 bits for each point, without filters: they make drawings larger; ``level`` is zlib's."""
    height, width = indices.shape
    bits = 4 if len(palette) <= 16 else 8
    if bits == 4:
        indices = np.pad(indices, ((0, 0), (0, width % 2)))
        indices = indices[:, 0::2] << 4 | indices[:, 1::2]
    rows = np.pad(indices, ((0, 0), (1, 0)))  # the byte before each row says that it has no filter
    squeeze = zlib.compressobj(level, zlib.DEFLATED, zlib.MAX_WBITS, 9)
    colours = palette.astype(np.uint8)
    chunks = [
        (b"IHDR", struct.pack(">2I5B", width, height, bits, 3, 0, 0, 0)),
        (b"PLTE", colours[:, :3].tobytes()),
        (b"tRNS", colours[:, 3].tobytes()),
        (b"IDAT", squeeze.compress(rows.tobytes()) + squeeze.flush()),
        (b"IEND", b""),
    ]
    return b"".join([b"\x89PNG\r\n\x1a\n", *(png_chunk(kind, data) for kind, data in chunks)])


def lacks_site_form(data: dict[str, Any]) -> bool:
    """Whether an output's data has a picture as students get it, without the site's form."""
    return bool(set(IMAGES) & set(data)) and SITE_FORM not in data


def comparable(data: dict[str, Any], site_form: bool = True) -> list[str]:
    """The words of an output's data in the order of their types: the same for an output just made and for a stored one.

    Points have no words, and the SVG that becomes them says what the site's form says, which may be left out.
    """
    kept = {kind: text for kind, text in data.items() if not kind.startswith("image/")}
    if "image/svg+xml" in data:
        kept = {SITE_FORM: _image(str(data["image/svg+xml"]), _alt(str(data["image/svg+xml"]))), **kept}
    if "image/svg+xml" in data and "text/html" in kept:
        kept[SITE_FORM] = kept.pop("text/html")
    if not site_form:
        kept.pop(SITE_FORM, None)
    return [_DATA.sub(lambda found: base64.b64decode(found[1]).decode(), str(kept[kind])) for kind in sorted(kept)]


def is_shown_untrusted(output: Any) -> bool:
    """Whether viewers that do not trust the notebook show an output, or a table or words instead of it."""
    data = output.get("data", {})
    if set(IMAGES) & set(data):
        return not {"image/svg+xml", "text/html"} & set(data)
    return not any("<svg" in str(text) or "<img" in str(text) or "image/svg" in kind for kind, text in data.items())


def _alt(svg: str) -> str:
    found = _TITLE.search(svg)
    return unescape(found[1]).strip() if found else ""


def _image(svg: str, alt: str) -> str:
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'
