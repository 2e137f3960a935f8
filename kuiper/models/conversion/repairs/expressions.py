"""Arguments of divisions and roundings inside an expression, which pnnx drops."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import TYPE_CHECKING

from kuiper.expression import Node, NodeKind, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_WAYS = 64
"""So many spellings of one expression are tried."""

_DIVISIONS = ("div", "floor_divide")


def spellings(text: str, modes: Sequence[str], decimals: Sequence[int]) -> list[str]:
    """The other things that an expression may have meant.

    Parameters
    ----------
    text : the expression as pnnx wrote it
    modes : rounding modes of the model's divisions, of ``floor`` and ``trunc``
    decimals : to how many decimals the model rounds

    Examples
    --------
    >>> spellings("add(div(@0,0.3),1)", ["floor"], [])
    ['add(floor_divide(@0,0.3),1)']
    >>> spellings("round(@0)", [], [1, -2])
    ['div(round(mul(@0,10.0)),10.0)', 'mul(round(div(@0,100.0)),100.0)']
    """
    ways = (str(node) for node in _meanings(parse(text), modes, decimals))
    return list(islice(ways, 1, MAX_WAYS))  # the first is the expression itself


def _meanings(node: Node, modes: Sequence[str], decimals: Sequence[int]) -> Iterator[Node]:
    """The node as it is, then with every choice of what it and those below it may have meant."""
    below = [list(islice(_meanings(child, modes, decimals), MAX_WAYS)) for child in node.children]
    for children in product(*below):
        yield from _own_meanings(replace(node, children=children), modes, decimals)


def _own_meanings(node: Node, modes: Sequence[str], decimals: Sequence[int]) -> Iterator[Node]:
    yield node
    if node.kind is NodeKind.CALL and node.value in _DIVISIONS:
        if "floor" in modes and node.value == "div":
            yield replace(node, value="floor_divide")
        if "trunc" in modes:
            yield _call("trunc", replace(node, value="div"))
    if node.kind is NodeKind.CALL and node.value == "round":
        for places in decimals:
            scale = Node(NodeKind.CONSTANT, 10.0 ** abs(places))
            there, back = ("mul", "div") if places > 0 else ("div", "mul")
            yield _call(back, _call("round", _call(there, *node.children, scale)), scale)


def _call(name: str, *arguments: Node) -> Node:
    return Node(NodeKind.CALL, name, arguments)
