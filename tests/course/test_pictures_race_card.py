from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.pictures.race_card import race_card

TIMES = {"your layers": 40.0, "kuiper": 4.0, "kuiper, one thread": 0.4}


def bars(times: dict[str, float]) -> list[float]:
    """The widths of the bars; the first rectangle is the ground."""
    rectangles = [
        part for part in ET.fromstring(race_card(times, "a race", "x86_64").svg()).iter() if "rect" in part.tag
    ]
    return [float(part.attrib["width"]) for part in rectangles[1:]]


def test_race_card_names_times_and_the_machine() -> None:
    words = [
        part.text for part in ET.fromstring(race_card(TIMES, "a race", "x86_64, 2 cores").svg()).iter() if part.text
    ]
    assert {*TIMES, "40.00", "4.00", "0.40", "a race", "x86_64, 2 cores"} <= set(words)


def test_race_card_is_logarithmic() -> None:
    longest, middle, shortest = bars(TIMES)
    assert longest - middle == pytest.approx(middle - shortest, abs=0.2)
    assert shortest > 0


@pytest.mark.parametrize("milliseconds", [0.0001, 0.1, 1.0, 9.99, 10.0, 12345.0])
def test_race_card_fits_any_time_between_its_lines(milliseconds: float) -> None:
    (only,) = bars({"kuiper": milliseconds})
    assert 0 < only <= 300


def test_race_card_marks_what_is_the_students() -> None:
    svg = race_card({"your engine": 1.0, "kuiper": 1.0}, "", "").svg()
    assert re.findall(r"fill:(#\w+);fill-opacity", svg) == ["#e69f00", "#0072b2"]


@pytest.mark.parametrize("times", [{}, {"kuiper": 0.0}, {"kuiper": float("nan")}])
def test_race_card_refuses_what_is_no_time(times: dict[str, float]) -> None:
    with pytest.raises(CourseError, match="race card: expected times above 0"):
        race_card(times, "a race", "x86_64")
