"""The lectures' pictures: well-formed, complete, and clear about what cannot be drawn."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from kuiper.course.errors import CourseError
from kuiper.course.pictures import (
    Picture,
    class_diagram,
    column_of,
    flow,
    grid,
    lifetimes,
    memory,
    row_of,
    steps,
    tree,
)
from kuiper.course.pictures.photo import photo
from kuiper.course.pictures.picture import paragraph
from kuiper.course.pictures.stack import moves_from_the_right, stack_moves
from kuiper.course.pictures.yellow_lines import scores

if TYPE_CHECKING:
    from pathlib import Path


def words(picture: Picture) -> list[str]:
    """The texts of a picture in the order in which they are drawn; reading them proves that the SVG is well-formed."""
    return words_of(picture.svg())


def words_of(svg: str) -> list[str]:
    root = ET.fromstring(svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def inside(picture: Picture) -> bool:
    """Whether no rectangle leaves the picture (in the coordinates of a picture without groups)."""
    root = ET.fromstring(picture.svg())
    boxes = [b for b in root.iter("{http://www.w3.org/2000/svg}rect") if b.get("class") == "kp-line"]
    return all(
        float(b.attrib["x"]) >= 0 and float(b.attrib["x"]) + float(b.attrib["width"]) <= picture.width + 0.2
        for b in boxes
    )


def test_grid_shows_every_number() -> None:
    assert words(grid(np.float32([[1, -2.5], [0.125, 1e6]]))) == ["1", "-2.5", "0.125", "1e+06"]


def test_grid_names_rows_and_columns() -> None:
    assert words(grid([[1, 2]], "w", rows=["r"], columns=["a", "b"])) == ["w", "a", "b", "r", "1", "2"]


def test_grid_of_three_axes_has_a_title_for_each_plane() -> None:
    assert [text for text in words(grid(np.zeros((2, 1, 1)), "x")) if text != "0"] == ["x[0]", "x[1]"]


def test_grid_marks_cells() -> None:
    fills = re.findall(r"fill:(#\w+|gold)", grid(np.zeros((2, 2)), marks={"gold": [(0, 1)], "0": [(1, 0)]}).body)
    assert fills == ["gold", "#0072b2"]


def test_grid_colours_by_number() -> None:
    fills = re.findall(r"fill:(#\w+)", grid(np.zeros((1, 3)), colours=[[0, -1, 1]]).body)
    assert fills == ["#0072b2", "#e69f00"]


@pytest.mark.parametrize("shape", [(0,), (31, 31), (1, 1, 1, 1)])
def test_grid_refuses_what_cannot_be_counted(shape: tuple[int, ...]) -> None:
    with pytest.raises(CourseError, match="grid: expected 1 to 900 numbers"):
        grid(np.zeros(shape))


def test_memory_shows_the_order_of_addresses() -> None:
    x = np.arange(6).reshape(2, 3)
    assert words(memory(x))[::2] == ["0", "1", "2", "3", "4", "5"]
    assert words(memory(np.asfortranarray(x)))[::2] == ["0", "3", "1", "4", "2", "5"]


def test_memory_of_a_view_leaves_the_gaps_empty() -> None:
    assert words(memory(np.arange(6)[::2]))[::2] == ["0", "", "2", "", "4"]


def test_memory_of_a_reversed_view_begins_at_the_lowest_address() -> None:
    assert words(memory(np.arange(3)[::-1]))[::2] == ["0", "1", "2"]


def test_memory_refuses_too_much() -> None:
    with pytest.raises(CourseError, match="memory: expected 1 to 64 numbers"):
        memory(np.zeros(65))


def test_lifetimes_end_after_their_last_step() -> None:
    picture = lifetimes([("a", 0, 1), ("b", 2, 2)], rows=[0, 0], row_names=["buffer 0"])
    assert words(picture) == ["buffer 0", "a", "b", "0", "1", "2"]
    widths = re.findall(r'<rect[^>]* width="([\d.]+)"', picture.body)
    assert float(widths[0]) == pytest.approx(2 * float(widths[1]) + 2)


def test_tree_draws_every_node_inside() -> None:
    wide = ("a rather long name", ["x", ("add", ["@0", "@1"])])
    picture = tree(wide, lambda n: n[1] if isinstance(n, tuple) else [], lambda n: n[0] if isinstance(n, tuple) else n)
    assert sorted(words(picture)) == ["@0", "@1", "a rather long name", "add", "x"]
    assert inside(picture)


@dataclass
class Leaf:
    size: int


@dataclass
class Branch:
    leaves: list[Leaf]
    _secret: int = 0

    def grow(self) -> None: ...


def test_class_diagram_reads_the_classes() -> None:
    picture = class_diagram([Branch, Leaf])
    assert words(picture) == ["Branch", "leaves: list[Leaf]", "grow()", "Leaf", "size: int"]
    assert picture.body.count("<path") == 2  # the line from Branch to Leaf, and its head
    assert inside(picture)


def test_row_of_and_column_of_put_pictures_side_by_side() -> None:
    a, b = Picture(10, 20, ""), Picture(30, 5, "")
    assert (row_of(a, b, gap=1).width, row_of(a, b).height) == (41, 20)
    assert (column_of(a, b).width, column_of(a, b, gap=1).height) == (30, 26)


def svgs(html: str) -> list[str]:
    """The pictures that a page holds as data."""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    return [base64.b64decode(data).decode() for data in found]


EVERY_KIND = [
    grid([1], "x"),
    grid(np.zeros((2, 1, 1))),
    memory(np.arange(3)),
    lifetimes([("a", 0, 1)]),
    flow([("a < b", "c")]),
    tree("x", lambda n: [], str),
    class_diagram([Leaf]),
    stack_moves("add(@0,1)"),
    row_of(grid([1]), "=", grid([2])),
    Picture(10, 10, ""),
    grid([1]).captioned('one "number" < 2'),
]


@pytest.mark.parametrize("picture", EVERY_KIND)
def test_pictures_say_what_they_show_to_those_who_cannot_see_them(picture: Picture) -> None:
    root = ET.fromstring(picture.svg())
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert root.get("role") == "img"
    assert title is not None
    assert title.text == picture.alt != ""
    assert f'<img alt="{escape(picture.alt)}"' in picture.html()


def test_captioned_puts_the_caption_below_the_picture_and_into_its_alternative_text() -> None:
    picture = grid([1, 2], "x").captioned("two < three")
    assert picture.alt == "two < three"
    assert "<figcaption>two &lt; three</figcaption>" in picture.html()
    assert words(picture.still())[-1] == "two < three"
    assert picture.still().height > picture.height
    assert picture.titled("t").alt == "two < three"


def test_photo_is_shown_as_wide_as_asked_for_with_its_points_kept() -> None:
    small = photo(np.zeros((20, 30, 3)), "black", width=90)
    assert (small.width, small.height, small.alt) == (90, 60, "black")
    assert "data:image/png" in small.body
    large = photo(Image.new("RGB", (3000, 1500)), "black")
    assert (large.width, large.height) == (600, 300)
    assert "data:image/jpeg" in large.body
    ET.fromstring(large.svg())


def test_photo_wants_a_caption() -> None:
    with pytest.raises(CourseError, match="photo: expected a caption"):
        photo(np.zeros((1, 1)), "")


def test_alt_without_a_caption_is_the_words_of_the_picture() -> None:
    assert grid([1, 2], "x < y").alt == "x < y 1 2"
    assert "<figcaption" not in grid([1]).html()


def test_paragraph_breaks_long_sentences() -> None:
    assert len(words(paragraph("word " * 40, 350))) > 3
    assert paragraph("word " * 40, 350).width <= 350


def test_steps_show_all_pictures_where_no_script_runs() -> None:
    html = steps([grid([1]), grid([2]), grid([3])], ["one", "two < three", "three"], caption="all").html()
    assert [words_of(svg) for svg in svgs(html)] == [["1"], ["2"], ["3"]]
    assert html.count("<figcaption>") == 4
    assert "<figcaption>2. two &lt; three</figcaption>" in html
    before_script = html.partition("<script>")[0]
    assert "hidden" not in before_script
    assert "none" not in before_script


def test_steps_still_holds_every_picture_with_its_caption() -> None:
    still = steps([grid([1]), grid([2])], ["one", "two"], caption="all").still()
    assert words(still) == ["1", "1. one", "2", "2. two", "all"]
    assert still.alt == "all 1. one 2. two"


def test_steps_want_a_caption_for_each_picture() -> None:
    with pytest.raises(CourseError, match="as many captions as pictures"):
        steps([grid([1])], [])


def test_pictures_repr_is_short() -> None:
    assert repr(Picture(10, 20, "x" * 1000)) == "<picture 10 x 20>"


def test_save_writes_svg_and_nothing_else(tmp_path: Path) -> None:
    grid([1]).save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text().startswith("<svg")
    with pytest.raises(CourseError, match=r"a name that ends in .svg"):
        grid([1]).save(tmp_path / "x.png")


def test_stack_moves_hold_values_or_texts() -> None:
    texts = ["read", "stack afterwards", "@0", "@0", "1", "@0   1", "sub", "sub(@0,1)"]
    assert words(stack_moves("sub(@0,1)")) == texts
    assert words(stack_moves("sub(@0,1)", [4]))[3::2] == ["4", "4   1", "3"]


def test_moves_from_the_right_have_the_top_at_the_left() -> None:
    assert words(moves_from_the_right("sub(@0,1)", [4]))[2:] == ["1", "1", "@0", "4   1", "sub", "3"]


def test_flow_puts_every_box_below_those_that_lead_to_it() -> None:
    picture = flow([("b", "c"), ("a", "b"), ("a", "c")], texts={"c": "end"}, marks={"b": 1}, notes={"a": "first"})
    assert sorted(words(picture)) == ["a", "b", "end", "first"]
    tops = {text: float(y) for y, text in re.findall(r'y="([\d.]+)"[^>]*>(a|b|end)</text>', picture.body)}
    assert tops["a"] < tops["b"] < tops["end"]


def test_yellow_lines_are_yellow_where_python_is_called() -> None:
    lines = scores("def f(x):\n    return x + 1\n\n\ncdef int g(int x) noexcept:\n    return x + 1\n")
    assert [line.text for line in lines[:2]] == ["def f(x):", "    return x + 1"]
    assert lines[1].score > 0
    assert lines[-1].score == 0
