"""Trees: a node, and its children below it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import Picture, box, label, text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_ROW, _HEIGHT, _GAP = 52.0, 26.0, 12.0


@dataclass
class _Placed:
    """A subtree: its picture's width, and where the middle of its root is."""

    text: str
    colour: str
    width: float
    middle: float
    children: list[_Placed] = field(default_factory=list)


def tree(root: Any, children: Callable[[Any], Sequence[Any]], text: Callable[[Any], str], title: str = "") -> Picture:
    """A tree from its root, a function to a node's children, and one to what a node says.

    >>> picture = tree(("add", ["@0", "@1"]), lambda n: n[1] if isinstance(n, tuple) else [],
    ...                lambda n: n[0] if isinstance(n, tuple) else n)
    >>> picture.svg().count("<rect")  # three nodes and the ground
    4
    """
    placed = _place(root, children, text)
    parts: list[str] = []
    depth = _draw(placed, 0, 0, parts)
    picture = Picture(placed.width, _ROW * depth + _HEIGHT, "".join(parts))
    return picture.titled(title) if title else picture


def _place(node: Any, children: Callable[[Any], Sequence[Any]], text: Callable[[Any], str]) -> _Placed:
    below = [_place(child, children, text) for child in children(node)]
    own = text_width(text(node)) + 18
    colour = hue(0) if below else hue(2)
    if not below:
        return _Placed(text(node), colour, own, own / 2)
    spread = sum(child.width for child in below) + _GAP * (len(below) - 1)
    first = below[0].middle
    last = spread - below[-1].width + below[-1].middle
    middle = max((first + last) / 2, own / 2)
    return _Placed(text(node), colour, max(spread, middle + own / 2), middle, below)


def _draw(node: _Placed, x: float, row: int, parts: list[str]) -> int:
    """Append the shapes of a subtree whose left edge is at ``x``; its last row comes back."""
    top, middle, deepest = row * _ROW, x + node.middle, row
    left = x
    for child in node.children:
        foot = left + child.middle
        parts.append(f'<path class="kp-line" d="M{middle:.1f} {top + _HEIGHT:.1f}L{foot:.1f} {top + _ROW:.1f}"/>')
        deepest = max(deepest, _draw(child, left, row + 1, parts))
        left += child.width + _GAP
    width = text_width(node.text) + 18
    parts.append(box(middle - width / 2, top, width, _HEIGHT, node.colour))
    parts.append(label(middle, top + _HEIGHT / 2, node.text))
    return deepest
