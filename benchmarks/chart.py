"""The README's picture of speed: how many times as fast as the fastest other runtime, with a line at 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.course.pictures.picture import HUES, Picture, box, label, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW, _BAR, _BARS, _GAP = 22.0, 15.0, 300.0, 8.0
AHEAD, BEHIND = HUES[0], HUES[5]


class Bar(NamedTuple):
    """One bar: what ran, how many times as fast kuiper is, and who is compared with."""

    name: str
    times: float
    other: str


def chart(groups: Sequence[Sequence[Bar]], caption: str) -> Picture:
    """Groups of bars below each other; a bar that does not reach 1 has another colour.

    >>> picture = chart([[Bar("resnet18", 1.5, "ncnn"), Bar("prompt", 0.5, "openvino")]], "Made up.")
    >>> (picture.svg().count(AHEAD), picture.svg().count(BEHIND))
    (1, 1)
    """
    bars = [bar for group in groups for bar in group]
    left = max(text_width(bar.name) for bar in bars) + 12
    scale = _BARS / max(1.0, *(bar.times for bar in bars))
    parts, y = [], 0.0
    for group in groups:
        for bar in group:
            middle, width = y + _ROW / 2, bar.times * scale
            parts.append(label(left - 8, middle, bar.name, anchor="end"))
            colour = AHEAD if bar.times >= 1 else BEHIND
            parts.append(box(left, middle - _BAR / 2, width, _BAR, colour, strong=True))
            said = f"{bar.times:.2f} x {bar.other}"
            parts.append(label(left + max(width, scale) + 6, middle, said, anchor="start"))
            y += _ROW
        y += _GAP
    one = left + scale
    parts.append(f'<path class="kp-line" d="M{one:.1f} 0L{one:.1f} {y - _GAP:.1f}"/>')
    parts.append(label(one, y, "1: as fast", "kp-faint"))
    widest = max(text_width(f"{bar.times:.2f} x {bar.other}") for bar in bars)
    return Picture(left + _BARS + widest + 6, y + 10, "".join(parts), caption)
