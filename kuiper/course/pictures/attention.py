"""Which tokens look at which: the weights of one head of attention as a picture that one can point at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.course.errors import CourseError
from kuiper.course.picture_words import words
from kuiper.course.pictures.picture import TEXT, label, text_width
from kuiper.course.pictures.pointing import Place, Pointable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

MAX_TOKENS = 30
_CELL = 15.0
_SHOWN = 0.005  # a weight below this has no colour
_COLOUR = "#2f8fd0"  # can be seen on light and on dark

_NAMES = {" ": words("the space"), "\n": words("the end of the line")}
_LETTERS = {" ": "␣", "\n": "↵"}


def attention_map(weights: ArrayLike, tokens: Sequence[str], title: str = "", masked: bool = True) -> Pointable:
    """A row for each token that looks, a column for each that is looked at; the stronger the colour, the larger.

    Parameters
    ----------
    weights : (s, s), each row with the sum 1
    tokens : the s pieces of text
    title : a line above the picture
    masked : leave out the cells of tokens that come later than the one that looks

    >>> attention_map([[1, 0], [0.25, 0.75]], ["O", "!"]).places[-1].words
    '\u201c!\u201d (2) looks at itself: 75%'

    Raises
    ------
    CourseError
        If there are too many tokens to point at, or not one row and one column for each.
    """
    rows = np.asarray(weights, float)
    count = len(tokens)
    if not 0 < count <= MAX_TOKENS or rows.shape != (count, count):
        raise CourseError("attention_map", f"weights (s, s) of 1 to {MAX_TOKENS} tokens", f"{rows.shape}, {count}")
    left = max(text_width(letters(token)) for token in tokens) + 8
    top = 20.0 + (22.0 if title else 0.0)
    size = _CELL * count
    width = max(left + size, text_width(title))
    parts = [label(width / 2, 8, title, "kp-faint")] if title else []
    parts.append(f'<g font-size="{TEXT - 1}">')
    for i, token in enumerate(tokens):
        parts.append(label(left - 6, top + _CELL * (i + 0.5), letters(token), anchor="end", quoted=True))
        parts.append(label(left + _CELL * (i + 0.5), top - 9, letters(token), quoted=True))
    parts.append("</g>")
    places = []
    for i in range(count):
        for j in range(i + 1 if masked else count):
            x, y, weight = left + _CELL * j, top + _CELL * i, rows[i, j]
            if weight >= _SHOWN:
                style = f"fill:{_COLOUR};fill-opacity:{weight:.2f}"
                parts.append(
                    f'<rect x="{x:g}" y="{y:g}" width="{_CELL - 1:g}" height="{_CELL - 1:g}" style="{style}"/>'
                )
            who, whom = _placed(tokens, i), words("itself") if i == j else _placed(tokens, j)
            said = words("{who} looks at {whom}: {share}", who=who, whom=whom, share=f"{weight:.0%}")
            places.append(Place(x, y, _CELL, _CELL, said))
    stairs = "".join(f"h{_CELL:g}v{_CELL:g}" for _ in range(count)) if masked else f"h{size:g}v{size:g}"
    parts.append(f'<path class="kp-line" d="M{left:g} {top:g}{stairs}H{left:g}z"/>')
    first = words("Point at a cell, or tap it: the row looks at the column.")
    return Pointable(width, top + size, "".join(parts), places=tuple(places), first=first)


def letters(token: str) -> str:
    """A token with its spaces and line ends made visible.

    >>> letters("to be"), letters(chr(10))
    ('to␣be', '↵')
    """
    return "".join(_LETTERS.get(letter, letter) for letter in token)


def _placed(tokens: Sequence[str], place: int) -> str:
    """A token and its place, counted from 1."""
    return words("{name} ({place})", name=name(tokens[place]), place=place + 1)


def name(token: str) -> str:
    """What a sentence calls a token."""
    return _NAMES.get(token, f"\u201c{token}\u201d")
