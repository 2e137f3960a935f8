"""What lies on the stack while an expression is computed, move by move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.course.grids import inline
from kuiper.course.picture_words import words
from kuiper.course.pictures.grid import grid
from kuiper.expression import Node, evaluate, parse, reverse_polish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.course.pictures.picture import Picture


def stack_moves(text: str, inputs: Sequence[Any] = ()) -> Picture:
    """One row for each move in reverse Polish: what is read, and the stack afterwards, its top at the right.

    With inputs the stack holds their values, without it the expressions themselves.

    >>> "mul(add(@0,1),@1)" in stack_moves("mul(add(@0,1),@1)").svg()
    True
    """
    return _table(reverse_polish(parse(text)), inputs, top_at_the_right=True)


def moves_from_the_right(text: str, inputs: Sequence[Any] = ()) -> Picture:
    """The same for the text read from its end: what is read, and the stack afterwards, its top at the left.

    >>> "add(@0,1)" in moves_from_the_right("mul(add(@0,1),@1)").svg()
    True
    """
    return _table(_prefix(parse(text))[::-1], inputs, top_at_the_right=False)


def _prefix(node: Node) -> list[Node]:
    """The nodes of a tree in the order of the text, parents before children."""
    return [node, *(later for child in node.children for later in _prefix(child))]


def _table(moves: list[Node], inputs: Sequence[Any], top_at_the_right: bool) -> Picture:
    stack: list[Node] = []
    rows = []
    for node in moves:
        del stack[len(stack) - len(node.children) :]
        stack.append(node)
        values = [inline(evaluate(str(part), inputs)) if inputs else str(part) for part in stack]
        rows.append([node.label, "   ".join(values if top_at_the_right else reversed(values))])
    return grid(rows, columns=[words("read"), words("stack afterwards")])
