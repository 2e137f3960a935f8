"""Boxes and arrows: any graph of words, from the top to the bottom."""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, arrow, box, label, text_width
from kuiper.graph.layout import layered_layout

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from kuiper.graph.layout import Node

_HEIGHT, _ROW = 26.0, 58.0


def flow(
    arrows: Sequence[tuple[str, str]],
    *,
    texts: Mapping[str, str] | None = None,
    marks: Mapping[str, object] | None = None,
    notes: Mapping[str, str] | None = None,
    title: str = "",
) -> Picture:
    """A box for each name that an arrow begins or ends at.

    Parameters
    ----------
    arrows : (from, to), without circles
    texts : what stands in a box instead of its name
    marks : the colours of boxes, as in ``grid``: a CSS name or the number of a hue
    notes : a small word to the right of a box

    >>> flow([("x", "conv"), ("conv", "y")]).svg().count("<rect")  # three boxes and the ground
    4
    """
    texts, marks, notes = texts or {}, marks or {}, notes or {}
    names = _sources_first(arrows)
    widths: dict[Hashable, float] = {
        name: text_width(texts.get(name, name)) + 20 + 2 * text_width(notes.get(name, "")) for name in names
    }
    layout = layered_layout(widths, list(arrows))
    parts = [_route(route) for route in layout.routes]
    for row in layout.rows:
        for node in row:
            if node.key is None:
                continue
            name, y = str(node.key), _ROW * node.row
            width = text_width(texts.get(name, name)) + 18
            colour = hue(marks[name]) if name in marks else ""
            parts.append(box(node.x - width / 2, y, width, _HEIGHT, colour, strong=name in marks))
            parts.append(label(node.x, y + _HEIGHT / 2, texts.get(name, name)))
            if name in notes:
                parts.append(label(node.x + width / 2 + 4, y + _HEIGHT / 2, notes[name], "kp-faint", "start"))
    height = _ROW * (len(layout.rows) - 1) + _HEIGHT
    picture = Picture(layout.width, height, "".join(parts))
    return picture.titled(title) if title else picture


def _sources_first(arrows: Sequence[tuple[str, str]]) -> list[str]:
    """The names in an order in which every arrow leads forward, otherwise as they first appear."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for source, target in arrows:
        sorter.add(target, source)
    return list(sorter.static_order())


def _route(route: list[Node]) -> str:
    """A line from the foot of the first box, past the boxes of the rows between, to the head of the last."""
    points = [(route[0].x, _ROW * route[0].row + _HEIGHT)]
    for node in route[1:-1]:
        points += [(node.x, _ROW * node.row), (node.x, _ROW * node.row + _HEIGHT)]
    points.append((route[-1].x, _ROW * route[-1].row))
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points[:-1])
    bends = f'<path class="kp-line" d="M{way}"/>' if len(points) > 2 else ""
    return bends + arrow(*points[-2], *points[-1])
