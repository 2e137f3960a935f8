from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ParameterError
from kuiper.graph.layout import layered_layout
from tests.graph.graphs import DIAMOND, graph_of, random_graph

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def test_svg_has_a_box_for_each_operator_and_a_line_for_each_edge() -> None:
    root = ElementTree.fromstring(graph_of(DIAMOND).draw().svg())
    assert len(root.findall(f".//{SVG}rect")) == 5
    assert len(root.findall(f"./{SVG}g/{SVG}path")) == 5
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"nn.ReLU", "left", "(2, 6)"} <= set(texts)


def test_svg_escapes_names() -> None:
    text = DIAMOND.replace(" left ", ' a<b>&"c" ')
    assert 'a<b>&"c"' in {element.text for element in ElementTree.fromstring(graph_of(text).draw().svg()).iter()}


def test_mermaid_names_nodes_and_shapes() -> None:
    lines = graph_of(DIAMOND).draw().mermaid().splitlines()
    assert lines[0] == "flowchart TD"
    assert '  n1["nn.ReLU<br/>left"]' in lines
    assert '  n3 -->|"(2, 6)"| n4' in lines


def test_save_chooses_by_the_ending(tmp_path: Path) -> None:
    drawing = graph_of(DIAMOND).draw()
    drawing.save(tmp_path / "g.svg")
    drawing.save(tmp_path / "g.mmd")
    assert (tmp_path / "g.svg").read_text(encoding="utf-8") == drawing.svg() == drawing._repr_svg_()
    assert (tmp_path / "g.mmd").read_text(encoding="utf-8") == drawing.mermaid()
    with pytest.raises(ParameterError, match=r"expected a name that ends in .svg or .mmd, got .png"):
        drawing.save(tmp_path / "g.png")


def test_empty_edges_draw_nothing_but_boxes() -> None:
    assert layered_layout({}, []).width == 0


@pytest.mark.parametrize("seed", range(10))
def test_layered_layout_points_down_and_keeps_boxes_apart(seed: int) -> None:
    operators = random_graph(seed, size=30).operators
    edges = [(op, successor) for op in operators for successor in op.successors]
    layout = layered_layout(dict.fromkeys(operators, 100.0), edges, gap=20)
    for route in layout.routes:
        assert [node.row for node in route] == list(range(route[0].row, route[-1].row + 1))
    for row in layout.rows:
        for left, right in itertools.pairwise(row):
            assert right.x - left.x >= left.width / 2 + 20 + right.width / 2 - 1e-6
        assert all(node.width / 2 - 1e-6 <= node.x <= layout.width - node.width / 2 + 1e-6 for node in row)


def test_layered_layout_puts_a_chain_in_one_column() -> None:
    layout = layered_layout({"a": 10.0, "b": 30.0, "c": 20.0}, [("a", "b"), ("b", "c")])
    assert [[node.key for node in row] for row in layout.rows] == [["a"], ["b"], ["c"]]
    assert len({row[0].x for row in layout.rows}) == 1


def test_svg_is_wide_enough_for_its_labels() -> None:
    text = "7767517\n3 2\npnnx.Input x 0 1 0 #0=(1000,1000,1000,1000,1000)f32\nnn.ReLU r 1 1 0 1\npnnx.Output y 1 0 1\n"
    root = ElementTree.fromstring(graph_of(text).draw().svg())
    (label,) = (element for element in root.iter(f"{SVG}text") if element.text == "(1000, 1000, 1000, 1000, 1000)")
    assert float(label.attrib["x"]) + 6 * len(label.text or "") < float(root.attrib["width"])
