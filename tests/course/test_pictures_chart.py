"""Charts follow light and dark, are the same in every run, and say what one sees."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from kuiper.course.errors import CourseError
from kuiper.course.pictures import Picture, picture
from kuiper.course.pictures.chart import _ON_DARK, FAINT, INK, chart, label_line, subplots


def curves() -> Picture:
    figure, axes = subplots(1, 2, width=500, height=200)
    axes[0].plot([1, 2, 3])
    label_line(axes[0], "rises")
    axes[1].imshow(np.eye(3))
    return chart(figure, "a line & a diagonal")


def test_chart_has_the_size_that_was_asked_for() -> None:
    made = curves()
    assert (made.width, made.height) == (500, 200)
    ET.fromstring(made.svg())


def test_chart_is_the_same_in_every_run() -> None:
    assert curves().svg() == curves().svg()


def test_chart_keeps_words_as_words_and_its_caption_as_alternative_text() -> None:
    made = curves()
    texts = [element.text for element in ET.fromstring(made.svg()).iter("{http://www.w3.org/2000/svg}text")]
    assert "rises" in texts
    assert made.alt == "a line & a diagonal"


def test_chart_brings_no_ground_of_its_own_and_has_a_dark_colour_for_every_ink() -> None:
    svg = curves().svg()
    rules, _, shapes = svg.partition("<defs>")
    assert "fill: #ffffff" not in shapes
    assert "#000000" not in shapes
    for light, dark in _ON_DARK.items():
        assert f'[style*="stroke: {light}"]{{stroke:{dark}!important}}' in rules
    assert f"fill: {INK}" in shapes


def test_chart_has_the_inks_of_all_pictures() -> None:
    for ink in (INK, FAINT, _ON_DARK[INK], _ON_DARK[FAINT]):
        assert f"fill:{ink}" in picture._STYLE


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""

    def light(colour: str) -> float:
        levels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in levels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ink", [INK, FAINT])
def test_inks_can_be_read_on_their_grounds(ink: str) -> None:
    assert contrast(ink, "#f7f7f4") >= 4.5
    assert contrast(_ON_DARK[ink], "#20242a") >= 4.5


def test_chart_wants_a_caption() -> None:
    figure, _ = subplots()
    with pytest.raises(CourseError, match="chart: expected a caption"):
        chart(figure, " ")


def test_label_line_wants_a_line() -> None:
    _, axes = subplots()
    with pytest.raises(CourseError, match="label_line: expected axes with a line"):
        label_line(axes, "x")
