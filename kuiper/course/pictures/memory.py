"""How an array lies in memory: its numbers in the order of their addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from kuiper.course.errors import CourseError
from kuiper.course.grids import number
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, box, label, text_width

MAX_CELLS = 64
_PER_ROW = 16
_HEIGHT = 24.0


def memory(array: Any, title: str = "", *, axis: int = 0) -> Picture:
    """The numbers of an array by address, with their offsets; each index along ``axis`` has a colour.

    Memory that lies inside the array's span but belongs to none of its numbers (a view with gaps) is left white.

    >>> memory(np.arange(6).reshape(2, 3)).svg().count("<rect")  # six cells and the ground
    7

    Raises
    ------
    CourseError
        If there are too many numbers, or none.
    """
    values = np.asarray(array)
    offsets = _offsets(values)
    span = int(offsets.max()) + 1 if values.size else 0
    if not 0 < span <= MAX_CELLS or values.ndim == 0:
        raise CourseError("memory", f"1 to {MAX_CELLS} numbers in one piece of memory", f"{span}")
    cells: list[tuple[str, str]] = [("", "")] * span
    for index in np.ndindex(values.shape):
        cells[int(offsets[index])] = (number(values[index]), hue(index[axis]))
    width = max(_HEIGHT, max(text_width(text) for text, _ in cells) + 8)
    parts = []
    for offset, (text, colour) in enumerate(cells):
        x, y = width * (offset % _PER_ROW), (_HEIGHT + 20) * (offset // _PER_ROW)
        parts.append(box(x, y, width, _HEIGHT, colour))
        parts.append(label(x + width / 2, y + _HEIGHT / 2, text))
        parts.append(label(x + width / 2, y + _HEIGHT + 8, offset, "kp-faint"))
    rows = (span - 1) // _PER_ROW + 1
    picture = Picture(width * min(span, _PER_ROW), (_HEIGHT + 20) * rows, "".join(parts))
    return picture.titled(title) if title else picture


def _offsets(values: np.ndarray) -> np.ndarray:
    """For each number how many numbers lie before it, from the lowest address on."""
    offsets = np.zeros(values.shape, np.int64)
    for axis, (size, stride) in enumerate(zip(values.shape, values.strides, strict=True)):
        places = np.arange(size) * (stride // values.itemsize)
        offsets += places.reshape([-1 if i == axis else 1 for i in range(values.ndim)])
    offsets -= offsets.min(initial=0)
    return offsets
