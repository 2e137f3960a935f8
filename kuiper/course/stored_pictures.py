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
from html import escape, unescape
from pathlib import Path
from typing import Any

from PIL import Image

from kuiper.course.errors import CourseError

SITE_FORM = "text/vnd.kuiper.page"
ZOOM = 2
IMAGES = ("image/png", "image/jpeg")
_COLOURS = 48  # enough for flat colours and smooth letters; it makes a picture four times smaller
_QUALITY = 85  # of a JPEG, in percent
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
    with Image.open(io.BytesIO(bytes(pixels)), formats=["PNG"]) as image:
        size = image.width // ZOOM, image.height // ZOOM
        small = io.BytesIO()
        if "<image" in svg:  # a photo: few colours would spoil it
            flat = Image.new("RGB", image.size, _GROUND)
            flat.paste(image, mask=image.getchannel("A"))
            flat.save(small, "jpeg", quality=_QUALITY, optimize=True)
            return "image/jpeg", small.getvalue(), size
        image.convert("RGBA").quantize(_COLOURS, Image.Quantize.FASTOCTREE).save(small, "png", optimize=True)
        return "image/png", small.getvalue(), size


def comparable(data: dict[str, Any]) -> list[str]:
    """The words of an output's data in the order of their types: the same for an output just made and for a stored one.

    Points have no words, and the SVG that becomes them says what the site's form says.
    """
    kept = {kind: text for kind, text in data.items() if not kind.startswith("image/")}
    if "image/svg+xml" in data:
        kept = {SITE_FORM: _image(str(data["image/svg+xml"]), _alt(str(data["image/svg+xml"]))), **kept}
    if "image/svg+xml" in data and "text/html" in kept:
        kept[SITE_FORM] = kept.pop("text/html")
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
