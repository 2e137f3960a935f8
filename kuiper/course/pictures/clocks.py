"""Rotary embedding as clocks: pairs of numbers are hands, which turn by the position."""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING

from kuiper.course.pictures.picture import Picture, label, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RADIUS, _GAP = 46.0, 26.0
_COLOURS = ("#2f8fd0", "#e69f00")  # both can be seen on light and on dark


def clocks(hands: Mapping[str, Sequence[tuple[float, float]]], names: Sequence[str] = ()) -> Picture:
    """One dial for each pair, with a hand of each kind on it.

    Parameters
    ----------
    hands : for each name of one or two hands, its pairs (x, y), one for each dial; the first is blue, the second orange
    names : a line below each dial

    A hand of length 1 reaches the dial's edge; x points to the right, and the hands turn against the clock.

    >>> clocks({"query": [(1, 0), (0, 1)]}).svg().count("<circle")  # each dial has an edge and a middle
    4
    """
    count = len(next(iter(hands.values())))
    step = max(2 * _RADIUS + _GAP, *(text_width(name) + 12 for name in names), 0)
    top = 26.0
    parts = []
    x = 0.0
    for number, kind in enumerate(hands):
        parts.append(f'<path d="M{x:g} 8h22" style="stroke:{_COLOURS[number]};stroke-width:3"/>')
        parts.append(label(x + 28, 8, kind, anchor="start"))
        x += 28 + text_width(kind) + 24
    legend = x - 24
    for i in range(count):
        middle_x, middle_y = step * (i + 0.5), top + _RADIUS
        parts.append(f'<circle class="kp-line" cx="{middle_x:.1f}" cy="{middle_y:.1f}" r="{_RADIUS:g}"/>')
        for number, pairs in enumerate(hands.values()):
            parts.append(_hand(middle_x, middle_y, pairs[i], _COLOURS[number]))
        parts.append(f'<circle class="kp-ink" cx="{middle_x:.1f}" cy="{middle_y:.1f}" r="3"/>')
        if names:
            parts.append(label(middle_x, top + 2 * _RADIUS + 14, names[i], "kp-faint"))
    return Picture(max(step * count, legend), top + 2 * _RADIUS + (26 if names else 0), "".join(parts))


def turned(pair: tuple[float, float], angle: float) -> tuple[float, float]:
    """A hand after a turn by an angle in radians.

    >>> turned((1.0, 0.0), 0.0)
    (1.0, 0.0)
    """
    x, y = pair
    return x * cos(angle) - y * sin(angle), y * cos(angle) + x * sin(angle)


def _hand(x: float, y: float, pair: tuple[float, float], colour: str) -> str:
    end = f"{x + _RADIUS * pair[0]:.1f} {y - _RADIUS * pair[1]:.1f}"
    style = f"stroke:{colour};stroke-width:4;stroke-linecap:round;stroke-opacity:0.85"
    return f'<path d="M{x:.1f} {y:.1f}L{end}" style="{style}"/>'
