"""``model.draw()``: the graph as SVG, made here without any other program, or as Mermaid text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.graph.layout import Node, layered_layout
from kuiper.graph.summary import format_shape

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from os import PathLike

    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator

_BOX_HEIGHT, _ROW_HEIGHT, _MARGIN, _LETTER = 40.0, 84.0, 16.0, 7.2
_LABEL_GAP, _LABEL_LETTER = 6.0, 6.2  # to the right of an arrow; the labels' font is smaller than that of the boxes

# Fill colours that carry white text and can be told apart on white and on black; the first word that fits decides.
_COLOURS = (
    ("pnnx.Input", "#3f4a5a"),
    ("pnnx.Output", "#3f4a5a"),
    ("Conv", "#2f6db3"),
    ("conv", "#2f6db3"),
    ("Linear", "#2f6db3"),
    ("matmul", "#2f6db3"),
    ("bmm", "#2f6db3"),
    ("Norm", "#5b6abf"),
    ("norm", "#5b6abf"),
    ("pool", "#8a5a2b"),
    ("Pool", "#8a5a2b"),
    ("psample", "#8a5a2b"),
    ("Expression", "#a8437a"),
    ("Attribute", "#6b6b6b"),
    ("nn.", "#3a7d44"),
    ("F.", "#3a7d44"),
)
_OTHER_COLOUR = "#7a6a1f"


@dataclass(frozen=True)
class Edge:
    """An arrow between two operators, labelled with the shape of the operand that it carries."""

    source: RuntimeOperator
    target: RuntimeOperator
    label: str


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture of a graph; a notebook shows it by itself."""

    name: str
    operators: list[RuntimeOperator]
    edges: list[Edge]

    @classmethod
    def of(cls, graph: RuntimeGraph) -> Drawing:
        """The picture of a graph as it stands: before ``build`` as in the file, after it as it will run."""
        operators = graph.order or graph.operators
        edges = [
            Edge(op, consumer, format_shape(operand.shape))
            for op in operators
            for operand in op.outputs
            for consumer in operand.consumers
        ]
        return cls(graph.name, operators, edges)

    def svg(self) -> str:
        """The picture as SVG text."""
        widths: dict[Hashable, float] = {op: _LETTER * max(len(op.type), len(op.name), 8) + 20 for op in self.operators}
        layout = layered_layout(widths, [(edge.source, edge.target) for edge in self.edges])
        ends = (
            _middle(route[0])[0] + _LABEL_GAP + _LABEL_LETTER * len(edge.label)
            for edge, route in zip(self.edges, layout.routes, strict=True)
        )
        width = max([layout.width + 2 * _MARGIN, *ends])
        height = len(layout.rows) * _ROW_HEIGHT - (_ROW_HEIGHT - _BOX_HEIGHT) + 2 * _MARGIN
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" font-family="ui-monospace, monospace" font-size="12" text-anchor="middle">',
            f"<title>{escape(self.name)}</title>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a8a8a"/></marker></defs>',
            '<g fill="none" stroke="#8a8a8a" stroke-width="1.3" marker-end="url(#arrow)">',
            *(f'<path d="{_path(route)}"/>' for route in layout.routes),
            "</g>",
            '<g fill="#8a8a8a" font-size="10">',
            *_labels(self.edges, layout.routes),
            "</g>",
            *(_box(node) for row in layout.rows for node in row if node.key is not None),
            "</svg>",
        ]
        return "\n".join(lines)

    def mermaid(self) -> str:
        """The picture as a Mermaid flowchart, for Markdown pages."""
        number = {op: i for i, op in enumerate(self.operators)}
        lines = ["flowchart TD"]
        lines += [f'  n{i}["{_mermaid(op.type)}<br/>{_mermaid(op.name)}"]' for op, i in number.items()]
        lines += [f'  n{number[edge.source]} -->|"{edge.label}"| n{number[edge.target]}' for edge in self.edges]
        return "\n".join(lines) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture to a file whose name ends in .svg or .mmd (Mermaid).

        Raises
        ------
        ParameterError
            If it ends otherwise.
        """
        path = Path(path)
        writers = {".svg": self.svg, ".mmd": self.mermaid}
        if path.suffix not in writers:
            raise ParameterError(str(path), "a name that ends in .svg or .mmd", path.suffix or "no ending")
        path.write_text(writers[path.suffix](), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<drawing of {self.name}: {len(self.operators)} operators>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return self.mermaid()


def _middle(node: Node) -> tuple[float, float]:
    return node.x + _MARGIN, node.row * _ROW_HEIGHT + _BOX_HEIGHT / 2 + _MARGIN


def _path(route: list[Node]) -> str:
    """A smooth line from the bottom of the first node over the bends to the top of the last."""
    (x, y) = _middle(route[0])
    y += _BOX_HEIGHT / 2
    steps = [f"M{x:.1f} {y:.1f}"]
    for node in route[1:]:
        to_x, to_y = _middle(node)
        to_y -= _BOX_HEIGHT / 2
        bend = (to_y - y) / 2
        steps.append(f"C{x:.1f} {y + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}")
        if node is not route[-1]:  # straight past the boxes of this row
            to_y += _BOX_HEIGHT
            steps.append(f"V{to_y:.1f}")
        x, y = to_x, to_y
    return "".join(steps)


def _labels(edges: list[Edge], routes: list[list[Node]]) -> Iterator[str]:
    """The shape of each operand once, below the box that makes it."""
    seen = set()
    for edge, route in zip(edges, routes, strict=True):
        if (edge.source, edge.label) not in seen:
            seen.add((edge.source, edge.label))
            x, y = _middle(route[0])
            row = sum(1 for source, _ in seen if source is edge.source) - 1
            y += _BOX_HEIGHT / 2 + 13 + 11 * row
            yield f'<text x="{x + _LABEL_GAP:.1f}" y="{y:.1f}" text-anchor="start">{escape(edge.label)}</text>'


def _box(node: Node) -> str:
    op: RuntimeOperator = node.key  # type: ignore[assignment]
    x, y = _middle(node)
    colour = next((colour for word, colour in _COLOURS if word in op.type), _OTHER_COLOUR)
    settings = "\n".join(f"{key}={param.value}" for key, param in op.params.items())
    weights = "\n".join(f"@{key}={attr.shape}" for key, attr in op.attrs.items())
    tooltip = "\n".join(part for part in (op.where, settings, weights) if part)
    return (
        f"<g><title>{escape(tooltip)}</title>"
        f'<rect x="{x - node.width / 2:.1f}" y="{y - _BOX_HEIGHT / 2:.1f}" width="{node.width:.1f}" '
        f'height="{_BOX_HEIGHT:.0f}" rx="7" fill="{colour}"/>'
        f'<g fill="#fff"><text x="{x:.1f}" y="{y - 4:.1f}" font-weight="bold">{escape(op.type)}</text>'
        f'<text x="{x:.1f}" y="{y + 12:.1f}">{escape(op.name)}</text></g></g>'
    )


def _mermaid(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;")
