"""Where the boxes of a drawn graph stand: the layered layout of Sugiyama, Tagawa and Toda (1981).

1. rank       a node stands one row below the lowest node that it reads from
2. bend       an edge that skips rows gets an invisible node in each row that it passes, so it runs around the boxes
3. order      within a row, nodes go to the average place of their neighbours, a few sweeps down and up
4. place      the same averages give x; nodes of a row keep their order and their distance
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

SWEEPS = 12


@dataclass(eq=False)
class Node:
    """A box (or, without a key, the bend of a long edge) with its size and, once laid out, its centre and row."""

    key: Hashable
    width: float
    row: int = 0
    x: float = 0.0
    above: list[Node] = field(default_factory=list)
    below: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """The rows of nodes from top to bottom, the way of each edge, and the width of the whole."""

    rows: list[list[Node]]
    routes: list[list[Node]]
    width: float


def layered_layout(
    widths: dict[Hashable, float],
    edges: Sequence[tuple[Hashable, Hashable]],
    gap: float = 24.0,
    bend_width: float = 8.0,
) -> Layout:
    """Lay out an acyclic graph whose nodes come in topological order.

    ``widths`` gives each node's width. The routes are in the order of ``edges``, each from its source over its bends to
    its target.
    """
    nodes = {key: Node(key, width) for key, width in widths.items()}
    sources: dict[Hashable, list[Node]] = {key: [] for key in widths}
    for source, target in edges:
        sources[target].append(nodes[source])
    for key, node in nodes.items():
        node.row = max((source.row for source in sources[key]), default=-1) + 1
    rows: list[list[Node]] = [[] for _ in range(max((node.row for node in nodes.values()), default=-1) + 1)]
    for node in nodes.values():
        rows[node.row].append(node)
    routes = [_route(nodes[source], nodes[target], rows, bend_width) for source, target in edges]
    _order(rows)
    _place(rows, gap)
    left = min((node.x - node.width / 2 for row in rows for node in row), default=0.0)
    for row in rows:
        for node in row:
            node.x -= left
    width = max((node.x + node.width / 2 for row in rows for node in row), default=0.0)
    return Layout(rows, routes, width)


def _route(source: Node, target: Node, rows: list[list[Node]], bend_width: float) -> list[Node]:
    """Join two nodes over one bend in each row between them."""
    route = [source]
    for row in range(source.row + 1, target.row):
        bend = Node(None, bend_width, row)
        rows[row].append(bend)
        route.append(bend)
    route.append(target)
    for upper, lower in itertools.pairwise(route):
        upper.below.append(lower)
        lower.above.append(upper)
    return route


def _order(rows: list[list[Node]]) -> None:
    """Sort each row by the average place of the neighbours above, then below; ``x`` is the place within the row."""
    for row in rows:
        _number(row)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(key=lambda node: _average(node.above if down else node.below, node.x))
            _number(row)


def _number(row: list[Node]) -> None:
    for place, node in enumerate(row):
        node.x = float(place)


def _place(rows: list[list[Node]], gap: float) -> None:
    """Turn places into coordinates: pack each row, then pull every node towards its neighbours."""
    for row in rows:
        x = 0.0
        for node in row:
            node.x = x + node.width / 2
            x += node.width + gap
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            wishes = [_average(node.above if down else node.below, node.x) for node in row]
            _spread(row, wishes, gap)


def _spread(row: list[Node], wishes: list[float], gap: float) -> None:
    """Give each node its wish as far as the order and the gaps allow: blocks that collide share the average."""
    blocks: list[tuple[float, list[Node], list[float]]] = []  # centre of the first node, nodes, offsets from it
    for node, wish in zip(row, wishes, strict=True):
        blocks.append((wish, [node], [0.0]))
        while len(blocks) > 1:
            (start, nodes, offsets), (next_start, next_nodes, next_offsets) = blocks[-2:]
            step = offsets[-1] + nodes[-1].width / 2 + gap + next_nodes[0].width / 2
            if start + step <= next_start:
                break
            share = len(nodes) / (len(nodes) + len(next_nodes))
            merged = share * start + (1 - share) * (next_start - step)
            blocks[-2:] = [(merged, nodes + next_nodes, offsets + [step + offset for offset in next_offsets])]
    for start, nodes, offsets in blocks:
        for node, offset in zip(nodes, offsets, strict=True):
            node.x = start + offset


def _average(neighbours: list[Node], default: float) -> float:
    return sum(node.x for node in neighbours) / len(neighbours) if neighbours else default
