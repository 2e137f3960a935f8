"""A picture: a size, and the shapes in it. What all the other modules of this folder make."""

from __future__ import annotations

import base64
import re
import textwrap
from dataclasses import dataclass, replace
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import for_reader, has_words, words
from kuiper.language import is_wide

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

Self = TypeVar("Self", bound="Picture")

MARGIN = 10.0
LETTER = 7.3  # the width of a letter of the font below, in pixels
TEXT = 12  # the size of the font, and the width of a letter that is as wide as it is high
QUOTED = 'translate="no"'
FONTS = "ui-monospace, Menlo, Consolas, monospace"
WIDE_FONTS = "PingFang SC, Microsoft YaHei, Noto Sans CJK SC, Source Han Sans SC, WenQuanYi Micro Hei"
"""For the letters that those of ``FONTS`` lack: the ones that systems come with."""

# Ten fills that can be told apart with any kind of colour vision; each is seen through, so that the ink on it stays
# readable on light and on dark.
HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7a5cc4", "#8c8c8c", "#a0522d")

# A page may be light or dark. A picture that is shown as an image cannot ask it, so it brings a ground of its own.
_STYLE = (
    ".kp-ground{fill:#f7f7f4}.kp-ink{fill:#1d2126}.kp-faint{fill:#666b72}.kp-line{stroke:#7b828a;fill:none}"
    "@media(prefers-color-scheme:dark){.kp-ground{fill:#20242a}.kp-ink{fill:#e6e8ea}.kp-faint{fill:#a3a9b0}"
    ".kp-line{stroke:#949ba3}}"
)

_CLOSING = r"[\uff0c\u3002\uff1a\uff1b\uff1f\uff01\u3001\uff09\u201d]*\s*"  # what no line of Chinese begins with
_PIECES = re.compile(rf"[^\s\u2e80-\u9fff\uff00-\uffef]+{_CLOSING}|.{_CLOSING}")
_WORDS = re.compile(r"(<text[^>]*>)([^<]+)(?=</text>)")


@dataclass(frozen=True, repr=False)
class Picture:
    """Shapes, as SVG text, in a rectangle of ``width`` x ``height`` pixels; a notebook shows it by itself.

    Parameters
    ----------
    width, height : the size of the rectangle in pixels; ``svg`` adds a margin of 10 on each side
    body : the shapes
    caption : what the picture shows; it stands below the picture, and is its text for those who cannot see it

    >>> Picture(40, 20, label(20, 10, "conv")).alt
    'conv'
    """

    width: float
    height: float
    body: str
    caption: str = ""

    @property
    def alt(self) -> str:
        """The text for those who cannot see the picture: its caption, otherwise the words in it."""
        found = " ".join(text for _, text in _WORDS.findall(self.body))
        return self.caption or textwrap.shorten(unescape(found), 200, placeholder=" ...") or words("a drawing")

    def captioned(self, caption: str) -> Picture:
        """The same picture with a sentence that says what it shows.

        >>> Picture(40, 20, "").captioned("two boxes").alt
        'two boxes'
        """
        return replace(self, caption=caption)

    def said(self: Self, say: Callable[[str], str]) -> Self:
        """The same picture with each of its texts as ``say`` puts it.

        >>> Picture(40, 20, label(20, 10, "conv")).said(str.upper).alt
        'CONV'
        """

        def put(found: re.Match[str]) -> str:
            text = unescape(found[2]) if QUOTED in found[1] else say(unescape(found[2]))
            fonts = f"sans-serif, {WIDE_FONTS}" if any(map(is_wide, text)) else "sans-serif"  # a chart names its own
            return found[1].replace("sans-serif", fonts) + escape(text)

        return replace(self, body=_WORDS.sub(put, self.body), caption=say(self.caption))

    def svg(self) -> str:
        """The picture as a file would hold it."""
        width, height = self.width + 2 * MARGIN, self.height + 2 * MARGIN
        fonts = f"{FONTS}, {WIDE_FONTS}" if any(map(is_wide, self.body)) else FONTS
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="{fonts}" '
            f'font-size="{TEXT}" text-anchor="middle" style="max-width:100%">'
            f"<title>{escape(self.alt)}</title><style>{_STYLE}</style>"
            f'<rect class="kp-ground" width="{width:.0f}" height="{height:.0f}" rx="6"/>'
            f'<g transform="translate({MARGIN:.0f} {MARGIN:.0f})">{self.body}</g></svg>'
        )

    def titled(self, title: str) -> Picture:
        """The same picture with a line of text above it."""
        width = max(self.width, text_width(title))
        body = label(width / 2, 8, title, "kp-faint") + moved(self, (width - self.width) / 2, 22)
        return Picture(width, self.height + 22, body, self.caption)

    def still(self) -> Picture:
        """The picture with its caption drawn below it, for viewers that show images and nothing else."""
        if not self.caption:
            return self
        return column_of(self, paragraph(self.caption, self.width)).captioned(self.caption)

    def image(self) -> str:
        """An <img> that holds the picture itself. Viewers that forbid <svg> in a page mostly let this pass."""
        data = base64.b64encode(self.svg().encode()).decode()
        return f'<img alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{data}">'

    def html(self) -> str:
        """The picture with its caption, as a part of a page."""
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure style="margin:0">{self.image()}{caption}</figure>'

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture to a .svg file, in the reader's language.

        Raises
        ------
        CourseError
            If the name ends otherwise.
        """
        if Path(path).suffix != ".svg":
            raise CourseError(str(path), "a name that ends in .svg", Path(path).suffix or "no ending")
        say = for_reader()
        shown = self.said(say) if say else self
        Path(path).write_text(shown.svg(), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<picture {self.width:.0f} x {self.height:.0f}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        say = for_reader()
        shown = self.said(say) if say else self
        return {"text/html": shown.html(), "image/svg+xml": shown.still().svg(), "text/plain": repr(self)}


def row_of(*parts: Picture | str, gap: float = 14, top: bool = False) -> Picture:
    """Pictures and words (``*``, ``=`` ...) in one line, their middles (``top``: their upper ends) at the same height.

    >>> row_of(Picture(10, 30, ""), "=", Picture(20, 10, "")).height
    30
    """
    pictures = [part if isinstance(part, Picture) else word(part) for part in parts]
    height = max(picture.height for picture in pictures)
    body, x = [], 0.0
    for picture in pictures:
        body.append(moved(picture, x, 0 if top else (height - picture.height) / 2))
        x += picture.width + gap
    return Picture(x - gap, height, "".join(body))


def column_of(*parts: Picture | str, gap: float = 12) -> Picture:
    """Pictures and lines of text one below the other, all beginning at the left.

    >>> column_of(Picture(10, 30, ""), Picture(20, 10, ""), gap=5).height
    45.0
    """
    pictures = [part if isinstance(part, Picture) else word(part) for part in parts]
    body, y = [], 0.0
    for picture in pictures:
        body.append(moved(picture, 0, y))
        y += picture.height + gap
    return Picture(max(picture.width for picture in pictures), y - gap, "".join(body))


def word(text: str) -> Picture:
    """A piece of text as a picture."""
    return Picture(text_width(text), 18, label(text_width(text) / 2, 9, text))


def paragraph(text: str, width: float) -> Picture:
    """Text in lines of at most ``width`` pixels, but never narrower than 300.

    >>> paragraph("one two", 300).height
    18.0
    """
    lines = broken(text, max(width, 300))
    body = "".join(label(0, 18 * i + 9, line, "kp-faint", "start") for i, line in enumerate(lines))
    body = f'<g data-said="{escape(text)}" data-width="{max(width, 300):g}">{body}</g>'
    return Picture(max((text_width(line) for line in lines), default=0.0), 18.0 * len(lines), body)


def broken(text: str, width: float) -> list[str]:
    """Text in lines of at most ``width`` pixels: a line ends at a blank, or between two letters that are wide.

    No line begins with what ends a sentence or a bracket.
    """
    if not any(map(is_wide, text)):
        return textwrap.wrap(text, int(width / LETTER))
    lines = [""]
    for piece in _PIECES.findall(text):
        if lines[-1] and text_width(lines[-1] + piece.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return lines


def text_width(text: str) -> float:
    """How wide a line of text is, in pixels."""
    wide = sum(map(is_wide, text))
    return LETTER * (len(text) - wide) + TEXT * wide


def moved(picture: Picture, x: float, y: float) -> str:
    """The shapes of a picture at another place."""
    return f'<g transform="translate({x:.1f} {y:.1f})">{picture.body}</g>'


def label(
    x: float,
    y: float,
    text: object,
    style: str = "kp-ink",
    anchor: str = "",
    bold: bool = False,
    quoted: bool = False,
) -> str:
    """Text whose middle is at ``y`` and whose middle, ``start`` or ``end`` (``anchor``) is at ``x``.

    What is ``quoted`` from somewhere else stays as it is in every language.
    """
    where = f' text-anchor="{anchor}"' if anchor else ""
    weight = ' font-weight="bold"' if bold else ""
    kept = f" {QUOTED}" if quoted and has_words(str(text)) else ""
    return f'<text class="{style}" x="{x:.1f}" y="{y + 4:.1f}"{where}{weight}{kept}>{escape(str(text))}</text>'


def box(x: float, y: float, width: float, height: float, fill: str = "", strong: bool = False) -> str:
    """A rectangle with a line around it, filled with a colour that can be seen through."""
    colour = f' style="fill:{fill};fill-opacity:{0.62 if strong else 0.3}"' if fill else ""
    line = ' stroke-width="2"' if strong else ""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="kp-line" {place} rx="2"{colour}{line}/>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A straight arrow. The head is drawn here: a marker is found by its id, and ids of a page collide."""
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
    ux, uy = (x2 - x1) / length * 6, (y2 - y1) / length * 6
    head = f"M{x2:.1f} {y2:.1f}l{-ux - uy / 2:.1f} {-uy + ux / 2:.1f}l{uy:.1f} {-ux:.1f}z"
    return f'<path class="kp-line" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/><path class="kp-faint" d="{head}"/>'
