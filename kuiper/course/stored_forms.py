"""From what the site shows of a stored picture back to the picture: so its words can be put into another language.

``read_form(picture.html()).html()`` is ``picture.html()``, for every kind of picture that a lecture stores.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.material import SITE_FORM
from kuiper.course.pictures.picture import MARGIN, Picture
from kuiper.course.pictures.pointing import Place, Pointable
from kuiper.course.pictures.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Callable

_IMAGE = re.compile(r'<img alt="([^"]*)" src="data:image/svg\+xml;base64,([\w+/=]+)">')
_BODY = re.compile(
    r'<rect class="kp-ground" width="(\d+)" height="(\d+)" rx="6"/>'
    rf'<g transform="translate\({MARGIN:.0f} {MARGIN:.0f}\)">(.*)</g></svg>$',
    re.DOTALL,
)
_CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.DOTALL)
_FRAME = re.compile(r'<div class="kp-frame">(.*?</figure>(?:<script>.*?</script>)?)</div>', re.DOTALL)
_PLACE = re.compile(r'<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"><title>(.*?)</title></rect>')
_FIRST = re.compile(r'data-first="([^"]*)"')
_NUMBER = re.compile(r"^\d+\. ")
_TEXT = re.compile(r"(<text[^>]*>)([^<]+)(?=</text>)")
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)


@dataclass(frozen=True)
class Drawn:
    """An SVG that is not of kuiper.course.pictures, such as a graph's, and its text for those who cannot see it."""

    drawing: str
    alt: str

    def said(self, say: Callable[[str], str]) -> Drawn:
        """The same with each of its texts as ``say`` puts it."""

        def put(found: re.Match[str]) -> str:
            return found[1] + escape(say(unescape(found[2])))

        alt = say(self.alt)
        drawing = _TITLE.sub(lambda found: f"<title>{escape(say(unescape(found[1])))}</title>", self.drawing, count=1)
        return Drawn(_TEXT.sub(put, drawing), alt)

    def svg(self) -> str:
        """It, as a file would hold it."""
        return self.drawing

    def still(self) -> Drawn:
        """It, as it is."""
        return self

    def html(self) -> str:
        """An <img> that holds it."""
        data = base64.b64encode(self.drawing.encode()).decode()
        return f'<img alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{data}">'


def read_form(html: str) -> Picture | Steps | Drawn:
    """The picture that the site's form of an output shows.

    >>> picture = Picture(40, 20, '<text class="kp-ink">x</text>', "one x")
    >>> read_form(picture.html()) == picture
    True

    Raises
    ------
    CourseError
        If it is not the form of a picture.
    """
    frames = _FRAME.findall(html)
    if frames:
        outer = _CAPTION.search(html[html.rindex("</div>") :])
        read = [_picture(frame) for frame in frames]
        captions = tuple(_NUMBER.sub("", picture.caption) for picture in read)
        return Steps(tuple(replace(each, caption="") for each in read), captions, unescape(outer[1]) if outer else "")
    if html.startswith("<img"):
        found = _image(html)
        return Drawn(base64.b64decode(found[2]).decode(), unescape(found[1]))
    return _picture(html)


def texts_in_pictures(lecture: dict[str, Any]) -> list[str]:
    """Each text in the stored pictures of a lecture once: labels, captions, and what is said of places."""
    found: dict[str, None] = {}

    def take(text: str) -> str:
        found[text] = None
        return text

    for cell in lecture["cells"]:
        for output in cell.get("outputs", []):
            form = output.get("data", {}).get(SITE_FORM)
            if form:
                read_form("".join(form)).said(take)
    return list(found)


def _picture(html: str) -> Picture:
    drawing = base64.b64decode(_image(html)[2]).decode()
    found = _BODY.search(drawing)
    if found is None:
        raise CourseError("a stored picture", "a picture of kuiper.course.pictures", drawing[:60])
    width, height = int(found[1]) - 2 * MARGIN, int(found[2]) - 2 * MARGIN
    caption = _CAPTION.search(html)
    words = unescape(caption[1]) if caption else ""
    first = _FIRST.search(html)
    if first is None:
        return Picture(width, height, found[3], words)
    places = tuple(
        Place(float(x), float(y), float(across), float(down), unescape(said))
        for x, y, across, down, said in _PLACE.findall(html)
    )
    return Pointable(width, height, found[3], words, places, unescape(first[1]))


def _image(html: str) -> re.Match[str]:
    found = _IMAGE.search(html)
    if found is None:
        raise CourseError("a stored picture", "an image", html[:60])
    return found
