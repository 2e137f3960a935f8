"""The pictures of the lecture on language models: what can be pointed at, and that what they show is computed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from kuiper.course.errors import CourseError
from kuiper.course.pictures import Picture, steps
from kuiper.course.pictures.attention import MAX_TOKENS, attention_map
from kuiper.course.pictures.chances import token_bars
from kuiper.course.pictures.clocks import clocks, turned
from kuiper.course.pictures.pieces import token_boxes
from kuiper.course.pictures.pointing import Place, Pointable

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = [[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.125, 0.375]]


def shapes(picture: Picture, kind: str) -> list[dict[str, str]]:
    """The attributes of all shapes of a kind, without the ground."""
    found = [dict(element.attrib) for element in ET.fromstring(picture.svg()).iter(SVG + kind)]
    return [each for each in found if each.get("class") != "kp-ground"]


def words(picture: Picture) -> list[str]:
    return [element.text or "" for element in ET.fromstring(picture.svg()).iter(SVG + "text")]


def opacity(shape: dict[str, str]) -> float:
    found = re.search(r"fill-opacity:([\d.]+)", shape["style"])
    assert found
    return float(found[1])


def test_attention_map_says_of_each_cell_who_looks_at_whom() -> None:
    picture = attention_map(WEIGHTS, ["a", " ", "\n"])
    assert [place.words for place in picture.places] == [
        "“a” (1) looks at itself: 100%",
        "the space (2) looks at “a” (1): 25%",
        "the space (2) looks at itself: 75%",
        "the end of the line (3) looks at “a” (1): 50%",
        "the end of the line (3) looks at the space (2): 12%",
        "the end of the line (3) looks at itself: 38%",
    ]


def test_attention_map_has_colours_as_strong_as_the_weights() -> None:
    cells = shapes(attention_map(WEIGHTS, "abc"), "rect")
    assert [opacity(cell) for cell in cells] == [1.0, 0.25, 0.75, 0.5, 0.12, 0.38]
    columns = {cell["x"] for cell in cells if opacity(cell) in (1.0, 0.25, 0.5)}
    assert len(columns) == 1  # all look at the first token: one column


def test_attention_map_puts_the_words_where_the_cells_are() -> None:
    picture = attention_map(WEIGHTS, "abc", "a title")
    drawn = {(float(cell["x"]), float(cell["y"])) for cell in shapes(picture, "rect")}
    assert {(place.x, place.y) for place in picture.places} == drawn
    assert all(place.x + place.width <= picture.width for place in picture.places)
    assert all(place.y + place.height <= picture.height for place in picture.places)


def test_attention_map_without_a_mask_has_all_cells() -> None:
    assert len(attention_map(np.full((3, 3), 1 / 3), "abc", masked=False).places) == 9


@pytest.mark.parametrize("count", [0, 2, MAX_TOKENS + 1])
def test_attention_map_refuses_what_does_not_fit(count: int) -> None:
    with pytest.raises(CourseError, match=r"attention_map: expected weights \(s, s\) of 1 to 30 tokens"):
        attention_map(np.eye(MAX_TOKENS + 1 if count > 2 else 3), "x" * count)


def test_a_pointable_picture_lays_its_words_over_the_image() -> None:
    picture = Pointable(40, 20, "", "a <caption>", (Place(0, 0, 20, 20, 'the "left" <half>'),))
    page = picture.html()
    assert "<title>the &quot;left&quot; &lt;half&gt;</title>" in page
    assert 'viewBox="-10 -10 60 40"' in page  # as large as the image, which has the margin around it
    assert "width:60px" in page
    assert '<img alt="a &lt;caption&gt;"' in page
    assert "<title>the" not in picture.svg()  # the image itself stays as it is


def test_a_pointable_picture_stays_one_in_steps_and_with_a_caption() -> None:
    picture = attention_map(WEIGHTS, "abc")
    assert isinstance(picture.captioned("three letters"), Pointable)
    page = steps([picture, picture], ["one", "two"]).html()
    assert page.count('class="kp-over"') == 2
    assert page.count("<title>") == 12


def test_token_boxes_begin_a_line_behind_a_line_end_and_where_a_line_is_full() -> None:
    def rows(*tokens: str, width: float = 560) -> list[int]:
        found = [float(shape["y"]) for shape in shapes(token_boxes(tokens, width=width), "rect")]
        return [sorted(set(found)).index(y) for y in found]

    assert rows("to", " ", "be") == [0, 0, 0]
    assert rows("to\n", " be", "\n", "x") == [0, 1, 1, 2]
    assert rows("aaaa", "bbbb", "cccc", width=80) == [0, 0, 1]


def test_token_boxes_show_spaces_and_mark_long_tokens() -> None:
    picture = token_boxes(["t", "o be\n"])
    assert words(picture) == ["t", "o␣be↵"]
    one, long = shapes(picture, "rect")
    assert "style" not in one
    assert "fill" in long["style"]
    assert token_boxes(["a\n"]).height < token_boxes(["a\n", "b"]).height


def test_clocks_have_a_hand_of_each_kind_on_each_dial() -> None:
    picture = clocks({"query": [(1, 0), (0, 1)], "key": [(0, -1), (-1, 0)]}, ["fast", "slow"])
    hands = [shape for shape in shapes(picture, "path") if "stroke-linecap" in shape["style"]]
    moves = [[float(number) for number in re.findall(r"-?[\d.]+", hand["d"])] for hand in hands]
    ends = [(round(x2 - x1), round(y1 - y2)) for x1, y1, x2, y2 in moves]  # upwards is positive
    assert ends == [(46, 0), (0, -46), (0, 46), (-46, 0)]
    assert words(picture) == ["query", "key", "fast", "slow"]


def test_turned_hands_keep_their_length_and_the_angle_between_them() -> None:
    query, key = (1.0, 0.0), (0.6, 0.8)
    products = [
        sum(a * b for a, b in zip(turned(query, angle), turned(key, angle), strict=True)) for angle in (0, 1, 2.5, 100)
    ]
    assert products == pytest.approx([0.6] * 4)
    assert turned((1.0, 0.0), np.pi / 2) == pytest.approx((0.0, 1.0))


def test_token_bars_are_as_high_as_the_probabilities() -> None:
    picture = token_bars(["a", "b", "\n"], [0.5, 0.25, 0.0], [0.4, 0.2, 0.4])
    high, low = (float(shape["height"]) for shape in shapes(picture, "rect"))
    assert high == 2 * low
    assert words(picture) == ["50%", "a", "25%", "b", "×", "↵"]  # noqa: RUF001 - a cross, not a letter
    lines = [float(shape["d"].split()[1].partition("h")[0]) for shape in shapes(picture, "path") if "style" in shape]
    assert lines[0] == lines[2] > 0
    assert [b > a for a, b in pairwise(lines)] == [True, False]


def test_token_bars_of_one_height_have_one_size() -> None:
    sizes = {(p.width, p.height) for p in (token_bars("ab", [1, 0]), token_bars("ab", [0.001, 0.999]))}
    assert len(sizes) == 1
    assert "<1%" in words(token_bars("ab", [0.001, 0.999]))


@pytest.mark.parametrize(("tokens", "chances", "before"), [("ab", [1.0], []), ("", [], []), ("ab", [0.5, 0.5], [1.0])])
def test_token_bars_refuse_what_does_not_fit(tokens: str, chances: list[float], before: list[float]) -> None:
    with pytest.raises(CourseError, match="token_bars: expected a probability for each"):
        token_bars(tokens, chances, before)
