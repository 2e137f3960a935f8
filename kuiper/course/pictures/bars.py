"""Lifetimes as bars: from the step that makes a value to the last one that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, arrow, box, label, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEP, _ROW = 34.0, 24.0


def lifetimes(
    bars: Sequence[tuple[str, int, int]],
    *,
    rows: Sequence[int] = (),
    row_names: Sequence[str] = (),
    steps: Sequence[str] = (),
    title: str = "",
) -> Picture:
    """One bar for each (name, first step, last step); the last step belongs to the bar.

    ``rows`` gives the row of each bar, such as the buffer that it lives in; without it each has its own. Bars of one
    row that overlap are drawn over each other, which is what one wants to see.

    >>> lifetimes([("a", 0, 1), ("b", 1, 2)]).svg().count("<rect")  # two bars and the ground
    3
    """
    places = list(rows) or list(range(len(bars)))
    names = list(row_names) or ([name for name, _, _ in bars] if not rows else [str(i) for i in range(max(places) + 1)])
    left = max([0.0, *(text_width(name) + 10 for name in names)])
    last = max(end for _, _, end in bars)
    step = max([_STEP, *(text_width(name) + 6 for name in steps)])
    parts = [label(left - 6, _ROW * (i + 0.5), name, "kp-faint", "end") for i, name in enumerate(names)]
    for i, (name, start, end) in enumerate(bars):
        x, y, width = left + step * start, _ROW * places[i], step * (end - start + 1)
        parts.append(box(x + 1, y + 2, width - 2, _ROW - 4, hue(i % 10)))
        parts.append(label(x + width / 2, y + _ROW / 2, name))
    bottom = _ROW * len(names)
    parts += [
        label(left + step * (i + 0.5), bottom + 16, steps[i] if steps else i, "kp-faint") for i in range(last + 1)
    ]
    parts.append(arrow(left, bottom + 4, left + step * (last + 1), bottom + 4))
    picture = Picture(left + step * (last + 1), bottom + 28, "".join(parts))
    return picture.titled(title) if title else picture
