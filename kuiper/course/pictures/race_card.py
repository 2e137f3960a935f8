"""The times of a race as bars, with the machine below them: a picture to keep, and to show to others."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from kuiper.course.errors import CourseError
from kuiper.course.pictures.picture import HUES, Picture, box, label, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROW, _BAR, _BARS = 26.0, 18.0, 300.0


def race_card(times: Mapping[str, float], title: str, machine: str) -> Picture:
    """One bar for each time, on a logarithmic scale with a line at each power of ten.

    Parameters
    ----------
    times : milliseconds, above 0, by the name of what was timed; names that begin with "your" have their own colour
    title : a line above the bars
    machine : a line below them, as times without their machine say nothing

    >>> race_card({"your layers": 4.0, "kuiper": 0.3}, "ResNet-20", "x86_64").svg().count("<rect")  # and the ground
    3

    Raises
    ------
    CourseError
        If there are no times, or one is not above 0.
    """
    if not times or not min(times.values()) > 0:
        raise CourseError("race card", "times above 0", f"{dict(times)}")
    first = floor(log10(min(times.values()) / 1.5))
    last = max(floor(log10(max(times.values()))) + 1, first + 1)
    left = max(text_width(name) for name in times) + 12

    def across(milliseconds: float) -> float:
        return left + _BARS * (log10(milliseconds) - first) / (last - first)

    height = _ROW * len(times)
    parts = []
    for power in range(first, last + 1):
        x = across(10.0**power)
        parts.append(f'<path class="kp-line" stroke-opacity="0.4" d="M{x:.1f} 0L{x:.1f} {height:.1f}"/>')
        parts.append(label(x, height + 10, f"{10.0**power:g} ms", "kp-faint"))
    for i, (name, milliseconds) in enumerate(times.items()):
        y = _ROW * i + (_ROW - _BAR) / 2
        own = name.startswith("your")
        parts.append(label(left - 8, y + _BAR / 2, name, anchor="end", bold=own))
        parts.append(box(left, y, across(milliseconds) - left, _BAR, HUES[1] if own else HUES[0], strong=True))
        parts.append(label(across(milliseconds) + 6, y + _BAR / 2, f"{milliseconds:.2f}", anchor="start"))
    width = max(left + _BARS + text_width("1000 ms"), text_width(machine))
    parts.append(label(width / 2, height + 32, machine, "kp-faint"))
    return Picture(width, height + 40, "".join(parts)).titled(title)
