"""Planes of numbers as grids that one can count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.errors import CourseError
from kuiper.course.grids import number
from kuiper.course.picture_words import words
from kuiper.course.pictures.picture import HUES, Picture, box, label, row_of, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_CELLS = 900
_HEIGHT = 24.0


def grid(
    array: Any,
    title: str = "",
    *,
    marks: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    colours: Any = None,
    rows: Sequence[object] = (),
    columns: Sequence[object] = (),
) -> Picture:
    """The plane as a grid; of more than two axes, the planes side by side.

    Parameters
    ----------
    array : (h, w), (c, h, w), or (w,), which is drawn as one row: numbers or words
    marks : for each colour (a CSS name, or "0" to "9" for the lecture's own hues) the cells (row, column) that have it
    colours : like ``array``: for each cell the number of a hue; below 0, none
    rows, columns : words beside the rows and above the columns

    >>> grid(np.arange(6).reshape(2, 3), "x").svg().count("<rect")  # six cells and the ground
    7

    Raises
    ------
    CourseError
        If there are too many numbers to count.
    """
    values = np.asarray(array)
    if values.size > MAX_CELLS or values.ndim > 3 or not values.size:
        raise CourseError("grid", f"1 to {MAX_CELLS} numbers in at most 3 axes", f"shape {values.shape}")
    if values.ndim == 3:
        colours_of = [None] * len(values) if colours is None else list(np.asarray(colours))
        return row_of(
            *(
                grid(
                    plane,
                    words("{title}[{index}]", title=title, index=i),
                    marks=marks,
                    colours=colours_of[i],
                    rows=rows,
                    columns=columns,
                )
                for i, plane in enumerate(values)
            )
        )
    values = np.atleast_2d(values)
    hues = _hues(values.shape, marks or {}, colours)
    texts = [[number(value) for value in row] for row in values]
    width = max(_HEIGHT, max(text_width(text) for row in texts for text in row) + 8)
    width = max([width, *(text_width(str(name)) + 4 for name in columns)])
    left = max([0.0, *(text_width(str(name)) + 8 for name in rows)])
    top = 18.0 if columns else 0.0
    parts = [label(left + width * (j + 0.5), 8, name, "kp-faint") for j, name in enumerate(columns)]
    parts += [label(left - 6, top + _HEIGHT * (i + 0.5), name, "kp-faint", "end") for i, name in enumerate(rows)]
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            parts.append(box(left + width * j, top + _HEIGHT * i, width, _HEIGHT, hues[i][j]))
            parts.append(label(left + width * (j + 0.5), top + _HEIGHT * (i + 0.5), text))
    picture = Picture(left + width * values.shape[1], top + _HEIGHT * values.shape[0], "".join(parts))
    return picture.titled(title) if title else picture


def hue(name: object) -> str:
    """A colour: one of the lecture's hues by its number, or what CSS calls so.

    >>> hue(1), hue("gold")
    ('#e69f00', 'gold')
    """
    return HUES[int(str(name)) % len(HUES)] if str(name).isdigit() else str(name)


def _hues(shape: tuple[int, ...], marks: Mapping[str, Sequence[tuple[int, int]]], colours: Any) -> list[list[str]]:
    height, width = shape
    hues = [[""] * width for _ in range(height)]
    if colours is not None:
        numbers = np.broadcast_to(np.atleast_2d(np.asarray(colours)), shape)
        hues = [[hue(int(n)) if n >= 0 else "" for n in row] for row in numbers]
    for name, cells in marks.items():
        for i, j in cells:
            hues[i][j] = hue(name)
    return hues
