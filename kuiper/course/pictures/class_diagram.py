"""Class diagrams, drawn from the classes themselves."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from typing import TYPE_CHECKING

from kuiper.course.picture_words import words
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.picture import LETTER, Picture, arrow, box, label, text_width
from kuiper.graph.layout import Node, layered_layout

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_LINE, _GAP, _WIDEST = 17.0, 46.0, 44


def class_diagram(classes: Sequence[type], title: str = "", *, most: int = 8) -> Picture:
    """One box for each class with its fields and public methods; an arrow runs from a class to those that it holds, is
    made from, or makes, and to its base. Classes come before those that they hold; of two that hold each other, the
    first has the arrow. What a base holds already has no second arrow.

    What a class holds is read from the annotations of its fields, in its body or in ``__init__``, and what it makes
    from those of its methods: so the picture is as true as the code.

    >>> from kuiper.graph.pnnx import Graph, Operator
    >>> "Operator" in class_diagram([Graph, Operator]).svg()
    True
    """
    cards = {cls: _lines(cls, most) for cls in classes}
    edges = [(a, b) for a in classes for b in classes if a is not b and _mentions(a, b)]
    edges = [(a, b) for a, b in edges if not any((base, b) in edges for base in a.__mro__[1:])]
    one_way = [(a, b) for a, b in edges if (b, a) not in edges or list(classes).index(a) < list(classes).index(b)]
    widths: dict[Hashable, float] = {cls: _card_width(cls, lines) for cls, lines in cards.items()}
    layout = layered_layout(widths, [(a, b) for a, b in one_way])
    tops, y = [], 0.0
    for row in layout.rows:
        tops.append(y)
        y += max(_card_height(cards[node.key]) if node.key in cards else 0 for node in row) + _GAP
    parts = [_route(route, tops, cards) for route in layout.routes]
    parts += [_card(node, tops[node.row], cards[node.key]) for row in layout.rows for node in row if node.key in cards]
    picture = Picture(layout.width, y - _GAP, "".join(parts))
    return picture.titled(title) if title else picture


def _lines(cls: type, most: int) -> tuple[list[str], list[str]]:
    annotations = _fields(cls)
    names = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else list(annotations)
    fields = [f"{name}: {_short(annotations.get(name, ''))}" for name in names if not name.startswith("_")]
    methods = [f"{name}()" for name, value in vars(cls).items() if not name.startswith("_") and _is_method(value)]
    return _cut(fields, most), _cut(methods, most)


def _fields(cls: type) -> dict[str, object]:
    """The annotation of each field: those in the class's body, and those in its own ``__init__``."""
    fields: dict[str, object] = dict(inspect.get_annotations(cls))
    if "__init__" in vars(cls) and not dataclasses.is_dataclass(cls):
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(vars(cls)["__init__"])))):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
                fields[node.target.attr] = ast.unparse(node.annotation)
    return fields


def _is_method(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, (classmethod, staticmethod))


def _short(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _cut(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], words("and {count} more", count=len(lines) - most + 1)]


def _mentions(holder: type, held: type) -> bool:
    """Whether ``held`` is the base of ``holder``, or named in a field, in what a method returns, or in ``__init__``."""
    annotations = list(_fields(holder).values())
    annotations += [value.__annotations__.get("return") for value in vars(holder).values() if _is_method(value)]
    if not dataclasses.is_dataclass(holder):
        annotations += getattr(vars(holder).get("__init__"), "__annotations__", {}).values()
    words = " ".join(str(annotation) for annotation in annotations)
    letters = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in words)
    return held.__name__ in letters.split() or held in holder.__bases__


def _card_width(cls: type, lines: tuple[list[str], list[str]]) -> float:
    return max(text_width(line) for line in [cls.__name__, *lines[0], *lines[1]]) + 2 * LETTER


def _card_height(lines: tuple[list[str], list[str]]) -> float:
    return _LINE * (1 + len(lines[0]) + len(lines[1])) + 14 + (6 if lines[1] else 0)


def _card(node: Node, top: float, lines: tuple[list[str], list[str]]) -> str:
    fields, methods = lines
    left = node.x - node.width / 2
    parts = [box(left, top, node.width, _card_height(lines)), box(left, top, node.width, _LINE + 8, hue(0))]
    parts.append(label(node.x, top + _LINE / 2 + 4, node.key.__name__, bold=True))  # type: ignore[attr-defined]
    y = top + _LINE * 1.5 + 10
    for line in fields:
        parts.append(label(left + LETTER, y, line, anchor="start"))
        y += _LINE
    for line in methods:
        parts.append(label(left + LETTER, y + 4, line, "kp-faint", "start"))
        y += _LINE
    return "".join(parts)


def _route(route: list[Node], tops: list[float], cards: dict[type, tuple[list[str], list[str]]]) -> str:
    """A line from the foot of the first card over the bends to the head of the last."""
    first, last = route[0], route[-1]
    points = [(first.x, tops[first.row] + _card_height(cards[first.key]))]  # type: ignore[index]
    for node in route[1:-1]:
        points += [(node.x, tops[node.row]), (node.x, tops[node.row + 1] - _GAP)]
    points.append((last.x, tops[last.row]))
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points[:-1])
    bends = f'<path class="kp-line" d="M{way}"/>' if len(points) > 2 else ""
    return bends + arrow(*points[-2], *points[-1])
