"""The machine below the loops: the levels of its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.course.picture_words import words
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, arrow, box, label

if TYPE_CHECKING:
    from collections.abc import Sequence

# Orders of magnitude of a core of the 2020s. Sizes of one's own machine: lscpu, or kuiper doctor.
LEVELS = (
    (words("registers"), "2 KB", words("0 cycles")),
    (words("L1 cache"), words("32 to 128 KB"), words("about 5 cycles")),
    (words("L2 cache"), words("1 to 4 MB"), words("about 15 cycles")),
    (words("L3 cache"), words("8 to 64 MB"), words("about 50 cycles")),
    (words("main memory"), words("many GB"), words("about 300 cycles")),
)
_HEIGHT, _GAP, _NARROWEST, _WIDEST = 30.0, 22.0, 110.0, 300.0


def memory_levels(levels: Sequence[tuple[str, str, str]] = LEVELS) -> Picture:
    """The levels from the core outwards: each is larger than the one above it, and takes longer to answer.

    Parameters
    ----------
    levels : name, size, and how long one waits for a number from there; the nearest first

    >>> memory_levels().svg().count("<rect")  # five levels and the ground
    6
    """
    parts = []
    last = len(levels) - 1
    for i, (name, size, wait) in enumerate(levels):
        y = (_HEIGHT + _GAP) * i
        width = _NARROWEST + (_WIDEST - _NARROWEST) * i / max(last, 1)
        parts.append(box(_WIDEST / 2 - width / 2, y, width, _HEIGHT, hue(0 if i == 0 else 4 if i < last else 8)))
        parts.append(label(_WIDEST / 2, y + _HEIGHT / 2, name))
        parts.append(label(_WIDEST + 16, y + 7, size, anchor="start"))
        parts.append(label(_WIDEST + 16, y + 23, wait, "kp-faint", "start"))
        if i < last:
            parts.append(arrow(_WIDEST / 2, y + _HEIGHT + _GAP - 2, _WIDEST / 2, y + _HEIGHT + 2))
    caption = words(
        "The levels of memory: what is near is small and quick; a cache line of 64 bytes moves up at a time."
    )
    return Picture(_WIDEST + 140, (_HEIGHT + _GAP) * last + _HEIGHT, "".join(parts), caption)
