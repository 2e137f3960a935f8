"""Which lines of Cython still run Python: Cython's own count, the yellower the more calls into the interpreter."""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from kuiper.course.builder import annotate
from kuiper.course.pictures.picture import Picture, label, text_width

_LINE = re.compile(
    r'<pre class="cython line score-(\d+)"[^>]*>[^<]*<span class="">\s*\d+</span>: (.*?)</pre>', re.DOTALL
)
_TAG = re.compile(r"<[^>]+>")
_HEIGHT = 18.0


@dataclass(frozen=True)
class Line:
    """A line of source, and Cython's score: 0 where the C code never calls Python."""

    text: str
    score: int


def scores(source: str) -> list[Line]:
    """The lines of a .pyx text with their scores.

    >>> scores("cdef int twice(int x) noexcept:\\n    return 2 * x\\n")[1].score
    0
    """
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "page.pyx")
        path.write_text(source, encoding="utf-8")
        page = annotate(path, Path(name)).read_text(encoding="utf-8")
    found = [(int(score), unescape(_TAG.sub("", text)).rstrip("\n")) for score, text in _LINE.findall(page)]
    return [Line(text, score) for score, text in found]


def yellow_lines(source: str) -> Picture:
    """The text, each line on as much yellow as it has calls into Python.

    >>> yellow_lines("cdef int twice(int x) noexcept:\\n    return 2 * x\\n").svg().count("<rect")
    3
    """
    lines = scores(source)
    width = max(text_width(line.text) for line in lines) + 60
    parts = []
    for i, line in enumerate(lines):
        opacity = 0.2 * min(math.log1p(line.score), 4)
        parts.append(
            f'<rect y="{_HEIGHT * i:.0f}" width="{width:.0f}" height="{_HEIGHT:.0f}" fill="#f2b705" '
            f'fill-opacity="{opacity:.2f}"/>'
        )
        parts.append(label(24, _HEIGHT * (i + 0.5), i + 1, "kp-faint", "end"))
        parts.append(label(34, _HEIGHT * (i + 0.5), line.text.replace(" ", "\u00a0"), anchor="start"))
    return Picture(width, _HEIGHT * len(lines), "".join(parts))
