"""``model.draw()``: the graph as SVG, made here without any other program, or as Mermaid text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.graph.layout import Node, layered_layout
from kuiper.graph.pnnx.ir import INPUT, OUTPUT
from kuiper.graph.summary import format_shape
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Hashable
    from os import PathLike

    from kuiper.graph.protocols import WiredGraph
    from kuiper.graph.runtime_operator import RuntimeOperator

_GAP, _MARGIN, _LETTER = 40.0, 16.0, 7.2  # between rows; around all; the width of a letter
_LINE = 15.0  # the height of a line of text in a box

# Fill colours that carry white text and can be told apart on white and on black; the first word that fits decides.
_COLOURS = (
    (INPUT, "#3f4a5a"),
    (OUTPUT, "#3f4a5a"),
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
    """An arrow between two operators, and the shape of the operand that it carries."""

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
    def of(cls, graph: WiredGraph) -> Drawing:
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
        """The picture as SVG text.

        An operator's box holds its type, its name, and the shapes of its outputs: beside the arrows, where shapes would
        belong as well, the arrows that go past other boxes would cross them.
        """
        texts: dict[Hashable, list[str]] = {op: [op.type, op.name, *self._shapes(op)] for op in self.operators}
        widths: dict[Hashable, float] = {op: _LETTER * max(8, *map(len, lines)) + 20 for op, lines in texts.items()}
        layout = layered_layout(widths, [(edge.source, edge.target) for edge in self.edges])
        box = _LINE * max(map(len, texts.values()), default=0) + 10
        width = layout.width + 2 * _MARGIN
        height = max(len(layout.rows) * (box + _GAP) - _GAP, 0) + 2 * _MARGIN
        title = f"{self.name}: a graph of {len(self.operators)} operators"
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="ui-monospace, monospace" font-size="12" '
            'text-anchor="middle">',
            f"<title>{_xml(title)}</title>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a8a8a"/></marker></defs>',
            '<g fill="none" stroke="#8a8a8a" stroke-width="1.3" marker-end="url(#arrow)">',
            *(f'<path d="{_path(route, box)}"/>' for route in layout.routes),
            "</g>",
            *(_box(node, box, texts[node.key]) for row in layout.rows for node in row if node.key is not None),
            "</svg>",
        ]
        return "\n".join(lines)

    def _shapes(self, op: RuntimeOperator) -> list[str]:
        """The shapes of an operator's outputs, each once."""
        return list(dict.fromkeys(edge.label for edge in self.edges if edge.source is op))

    def mermaid(self) -> str:
        """The picture as a Mermaid flowchart, for Markdown pages."""
        number = {op: i for i, op in enumerate(self.operators)}
        lines = ["flowchart TD"]
        lines += [f'  n{i}["{_mermaid(op.type)}<br/>{_mermaid(op.name)}"]' for op, i in number.items()]
        lines += [
            f'  n{number[edge.source]} -->|"{_mermaid(edge.label)}"| n{number[edge.target]}' for edge in self.edges
        ]
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
        return f"<drawing of {printable(self.name)}: {len(self.operators)} operators>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return self.mermaid()


def _middle(node: Node, box: float) -> tuple[float, float]:
    """The middle of a node in a drawing whose boxes are ``box`` pixels high."""
    return node.x + _MARGIN, node.row * (box + _GAP) + box / 2 + _MARGIN


def _path(route: list[Node], box: float) -> str:
    """A smooth line from the bottom of the first node over the bends to the top of the last."""
    (x, y) = _middle(route[0], box)
    y += box / 2
    steps = [f"M{x:.1f} {y:.1f}"]
    for node in route[1:]:
        to_x, to_y = _middle(node, box)
        to_y -= box / 2
        bend = (to_y - y) / 2
        steps.append(f"C{x:.1f} {y + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}")
        if node is not route[-1]:  # straight past the boxes of this row
            to_y += box
            steps.append(f"V{to_y:.1f}")
        x, y = to_x, to_y
    return "".join(steps)


def _box(node: Node, height: float, texts: list[str]) -> str:
    op: RuntimeOperator = node.key  # type: ignore[assignment]
    x, y = _middle(node, height)
    colour = next((colour for word, colour in _COLOURS if word in op.type), _OTHER_COLOUR)
    settings = "\n".join(f"{key}={param.value}" for key, param in op.params.items())
    weights = "\n".join(f"@{key}={attr.shape}" for key, attr in op.attrs.items())
    tooltip = "\n".join(part for part in (f"{op.type} '{op.name}'", settings, weights) if part)
    first = y - _LINE * (len(texts) - 1) / 2 + 4
    weights_of = [' font-weight="bold"', *[""] * (len(texts) - 1)]
    lines = [
        f'<text x="{x:.1f}" y="{first + _LINE * i:.1f}"{weight}>{_xml(text)}</text>'
        for i, (text, weight) in enumerate(zip(texts, weights_of, strict=True))
    ]
    return (
        f"<g><title>{_xml(tooltip)}</title>"
        f'<rect x="{x - node.width / 2:.1f}" y="{y - height / 2:.1f}" width="{node.width:.1f}" '
        f'height="{height:.0f}" rx="7" fill="{colour}"/><g fill="#fff">{"".join(lines)}</g></g>'
    )


def _mermaid(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;")


def _xml(text: str) -> str:
    return escape(printable(text, keep="\n"))
