"""Curves and bars of matplotlib in one style: readable on light and dark grounds, and on a telephone.

figure, axes = subplots(width=560, height=260)
axes.plot(x, relu(x))
label_line(axes, "relu")
chart(figure, "ReLU is zero to the left of zero, and the identity to the right")
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from kuiper.course.errors import CourseError
from kuiper.course.pictures.picture import HUES, Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT = "#1d2126", "#666b72"  # as in picture.py; where the reader's system is dark, others take their place
_ON_DARK = {
    INK: "#e6e8ea",
    FAINT: "#a3a9b0",
    "#0072b2": "#58aee8",
    "#009e73": "#2fc69a",
    "#7a5cc4": "#a892e6",
    "#a0522d": "#d28b66",
}
_STYLE = {
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 12,
    "figure.facecolor": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "grid.color": FAINT,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "lines.solid_capstyle": "round",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # letters stay letters
    "svg.hashsalt": "kuiper",  # names inside of the file are the same in every run
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
_UNIT = 72  # matplotlib's SVG has 72 of its units to the inch: a unit is a pixel here
_PHOTO = 144  # points to the inch of a photo in a chart


def subplots(rows: int = 1, columns: int = 1, *, width: float = 560, height: float = 260, **settings: Any) -> Any:
    """A figure of ``width`` x ``height`` pixels in the lectures' style, and its axes (one, or an array of them).

    ``settings`` go to ``Figure.subplots`` of matplotlib, such as ``sharex=True``. The figure is shown by ``chart``.

    >>> figure, axes = subplots(1, 2)
    >>> axes.shape
    (2,)
    """
    from cycler import cycler
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update(_STYLE)
    rcParams["axes.prop_cycle"] = cycler(color=HUES)
    figure = Figure(figsize=(width / _UNIT, height / _UNIT), dpi=_PHOTO, layout="constrained")
    return figure, figure.subplots(rows, columns, **settings)


def label_line(axes: Any, text: str, line: Any = None) -> None:
    """Write the name of a line (the one drawn last, or ``line``) beside its right end, instead of in a legend.

    Raises
    ------
    CourseError
        If there is no line.
    """
    lines = [line] if line is not None else list(axes.lines)
    if not lines:
        raise CourseError("label_line", "axes with a line", "none")
    x, y = lines[-1].get_data()
    axes.annotate(
        text, (x[-1], y[-1]), (6, 0), textcoords="offset points", va="center", color=INK, annotation_clip=False
    )


def chart(figure: Figure, caption: str) -> Picture:
    """A figure of ``subplots`` as a picture; ``caption`` says what one sees in it.

    >>> figure, axes = subplots()
    >>> _ = axes.plot([1, 2, 3])
    >>> chart(figure, "a line that rises").alt
    'a line that rises'

    Raises
    ------
    CourseError
        If the caption is empty.
    """
    if not caption.strip():
        raise CourseError("chart", "a caption that says what one sees", "none")
    file = io.StringIO()
    figure.savefig(file, format="svg", dpi=_PHOTO, metadata={"Date": None, "Creator": None})
    width, height = figure.get_size_inches() * _UNIT
    shapes = file.getvalue().partition("<defs>")[2].removesuffix("\n").removesuffix("</svg>")
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in _ON_DARK.items()
        for kind in ("fill", "stroke")
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    body = f'{style}<g xmlns:xlink="http://www.w3.org/1999/xlink" text-anchor="start"><defs>{shapes}</g>'
    return Picture(width, height, body, caption)
