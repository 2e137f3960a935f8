"""The cell picture says what the lecture's text says about it."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from kuiper.course.pictures.cell import cell_box

Rectangle = tuple[float, float, float, float]


def drawn(channels: tuple[float, float, float, float], column: int = 3, row: int = 1) -> dict[str, list[Rectangle]]:
    """The rectangles (x, y, width, height) of the picture, by their fill."""
    found: dict[str, list[Rectangle]] = {}
    picture = cell_box(channels, column=column, row=row, stride=8, anchor=(12, 10))
    for part in list(ET.fromstring(picture.svg()).iter("{http://www.w3.org/2000/svg}rect"))[1:]:
        fill = part.attrib.get("style", "").removeprefix("fill:").partition(";")[0]
        x, y, width, height = (float(part.attrib[name]) for name in ("x", "y", "width", "height"))
        found.setdefault(fill, []).append((x, y, width, height))
    return found


@pytest.mark.parametrize(("column", "row"), [(3, 1), (0, 0), (1, 4)])
def test_cell_box_counts_cells_from_the_corner_of_the_map(column: int, row: int) -> None:
    shapes = drawn((0, 0, 0, 0), column, row)
    (cell,) = shapes["#0072b2"]
    grid = [each for each in shapes[""] if each[2] == cell[2]]
    left, top = min(x for x, *_ in grid), min(y for _, y, *_ in grid)
    assert (cell[0] - left) / cell[2] == pytest.approx(column)
    assert (cell[1] - top) / cell[3] == pytest.approx(row)


@pytest.mark.parametrize("channels", [(0, 0, 0, 0), (2, 0, 0, 0), (0, 0, 1, -1)])
def test_cell_box_shows_the_whole_box_of_the_lectures_cases(channels: tuple[float, float, float, float]) -> None:
    shapes = drawn(channels)
    ((x, y, width, height),), grid = shapes["#e69f00"], shapes[""]
    assert x >= min(cell[0] for cell in grid)
    assert y >= min(cell[1] for cell in grid)
    assert x + width <= max(cell[0] + cell[2] for cell in grid) + 0.1
    assert y + height <= max(cell[1] + cell[3] for cell in grid) + 0.1


def test_cell_box_is_the_anchor_where_all_channels_are_0() -> None:
    shapes = drawn((0, 0, 0, 0))
    assert shapes["#e69f00"][0] in shapes[""]
