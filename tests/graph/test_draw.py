from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

import pytest

from kuiper.errors import ParameterError
from kuiper.graph import draw
from kuiper.graph.layout import layered_layout
from kuiper.graph.passes.fuse_activation_into_conv import fuse_activation_into_conv
from tests.graph.graphs import DIAMOND, graph_of, random_graph
from tests.graph.pass_graphs import INPUT, OUTPUT, conv, relu, rewritten

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


def test_svg_titles_name_an_operator_that_a_pass_made_as_the_graph_does() -> None:
    graph = rewritten(fuse_activation_into_conv, INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    titles = [element.text or "" for element in ElementTree.fromstring(graph.draw().svg()).iter(f"{SVG}title")]
    assert "kuiper.FusedConv2d 'conv+relu'" in {title.splitlines()[0] for title in titles}


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


SKIP = """7767517
6 6
pnnx.Input  in   0 1 x #x=(1,16,32,32)f32
nn.ReLU     top  1 1 x a #a=(1,16,32,32)f32
nn.ReLU     left 1 1 a b #b=(1,16,32,32)f32
nn.ReLU     low  1 1 b c #c=(1,16,32,32)f32
torch.add   sum  2 1 a c y #y=(1,16,32,32)f32
pnnx.Output out  1 0 y
"""


def test_svg_has_every_text_inside_of_its_box_and_every_line_outside() -> None:
    """The line that goes past a block crosses no word, because all words are in boxes and no line enters one."""
    root = ElementTree.fromstring(graph_of(SKIP).draw().svg())
    boxes = []
    for group in root.findall(f"./{SVG}g[{SVG}rect]"):
        [rectangle] = group.findall(f"{SVG}rect")
        left, top, width, height = (float(rectangle.attrib[name]) for name in ("x", "y", "width", "height"))
        boxes.append((left, top, left + width, top + height))
        for text in group.iter(f"{SVG}text"):
            half = 3.65 * len(text.text or "")
            assert left <= float(text.attrib["x"]) - half
            assert float(text.attrib["x"]) + half <= left + width
            assert top + 10 <= float(text.attrib["y"]) <= top + height - 3
    assert len(list(root.iter(f"{SVG}text"))) == len(list(root.findall(f"./{SVG}g[{SVG}rect]//{SVG}text")))
    for path in root.findall(f"./{SVG}g/{SVG}path"):
        for x, y in points(path.attrib["d"]):
            assert not any(left + 1 < x < right - 1 and top + 1 < y < bottom - 1 for left, top, right, bottom in boxes)


def points(way: str) -> list[tuple[float, float]]:
    """Points on a path of moves, cubic curves and vertical lines."""
    found: list[tuple[float, float]] = []
    for letter, text in re.findall(r"([MCV])([^MCV]+)", way):
        values = [float(value) for value in text.split()]
        if letter == "M":
            found.append((values[0], values[1]))
            continue
        x, y = found[-1]
        x2, y2, x3, y3, x4, y4 = (x, y, x, values[0], x, values[0]) if letter == "V" else values
        for step in range(1, 33):
            t = step / 32
            w = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            found.append((w[0] * x + w[1] * x2 + w[2] * x3 + w[3] * x4, w[0] * y + w[1] * y2 + w[2] * y3 + w[3] * y4))
    return found


def test_svg_shows_the_shapes_of_all_outputs_once() -> None:
    texts = [element.text for element in ElementTree.fromstring(graph_of(SKIP).draw().svg()).iter(f"{SVG}text")]
    assert texts.count("(1, 16, 32, 32)") == 5  # two lines leave "top", with one tensor


def light(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    levels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in levels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", sorted({colour for _, colour in draw._COLOURS} | {draw._OTHER_COLOUR}))
def test_white_words_can_be_read_on_every_box(colour: str) -> None:
    assert 1.05 / (light(colour) + 0.05) >= 4.5


def test_svg_says_what_it_shows() -> None:
    root = ElementTree.fromstring(graph_of(DIAMOND).draw().svg())
    title = root.find(f"{SVG}title")
    assert root.attrib["role"] == "img"
    assert title is not None
    assert (title.text or "").endswith("a graph of 5 operators")
