"""Text cut into tokens: a box for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.pictures.attention import letters
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, box, label, text_width

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_HEIGHT, _ROW = 24.0, 30.0


def token_boxes(tokens: Sequence[str], *, marked: Collection[str] = (), width: float = 560) -> Picture:
    """The tokens in lines of at most ``width`` pixels; those of one character are white, longer ones have a colour.

    A token that ends a line of the text ends a line of the picture.

    Parameters
    ----------
    tokens : pieces of text; joined, they are the text
    marked : tokens that stand out
    width : of the picture, in pixels

    >>> token_boxes(["to", " ", "be"]).svg().count("<rect")  # three boxes and the ground
    4
    """
    x = y = widest = 0.0
    parts = []
    for token in tokens:
        across = text_width(letters(token)) + 9
        if x and x + across > width:
            x, y = 0.0, y + _ROW
        fill = hue(1) if token in marked else "" if len(token) == 1 else hue(min(len(token), 5) + 1)
        parts.append(box(x, y, across - 2, _HEIGHT, fill, strong=token in marked))
        parts.append(label(x + across / 2 - 1, y + _HEIGHT / 2, letters(token), quoted=True))
        x += across
        widest = max(widest, x)
        if token.endswith("\n"):
            x, y = 0.0, y + _ROW
    return Picture(widest - 2, y + (_HEIGHT if x else _HEIGHT - _ROW), "".join(parts))
