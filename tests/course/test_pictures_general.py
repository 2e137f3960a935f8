"""The pictures that belong to no lecture: what they say is computed, and true."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.errors import CourseError
from kuiper.course.pictures.folding import folded_batch_norm
from kuiper.course.pictures.graphs import graph_beside_architecture, shared_tensor, toolchain
from kuiper.course.pictures.machine import LEVELS, memory_levels
from kuiper.course.pictures.suppression import suppression
from kuiper.course.pictures.windows import receptive_field, sliding_window

if TYPE_CHECKING:
    from kuiper.course.pictures import Picture

WIDEST = 620  # pixels: wider ones cannot be read on a telephone


def words(picture: Picture) -> list[str]:
    root = ET.fromstring(picture.svg())
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(
    "picture",
    [
        receptive_field(),
        receptive_field([(3, 2), (3, 2)]),
        memory_levels(),
        folded_batch_norm(),
        shared_tensor(),
        toolchain(),
        graph_beside_architecture(),
    ],
)
def test_general_pictures_have_a_caption_and_fit_a_page(picture: Picture) -> None:
    assert picture.caption.endswith(".")
    assert picture.width <= WIDEST
    words(picture)


@pytest.mark.parametrize(
    ("layers", "seen"), [([(3, 1)], 3), ([(3, 1)] * 3, 7), ([(3, 2), (3, 2)], 7), ([(2, 2)] * 3, 8)]
)
def test_receptive_field_counts_what_is_seen(layers: list[tuple[int, int]], seen: int) -> None:
    picture = receptive_field(layers)
    assert f"sees {seen} of the input" in words(picture)
    tops = re.findall(r'<rect class="kp-line" x="[\d.]+" y="([\d.]+)"', picture.body)
    assert tops.count("0.0") == seen


@pytest.mark.parametrize("layers", [[], [(3, 3)] * 4])
def test_receptive_field_refuses_what_cannot_be_counted(layers: list[tuple[int, int]]) -> None:
    with pytest.raises(CourseError, match="receptive_field: expected layers that see at most 24 numbers"):
        receptive_field(layers)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding"), [(5, 3, 2, 1), (4, 3, 1, 0), (4, 2, 2, 0), (3, 3, 1, 1)]
)
def test_sliding_window_has_a_picture_for_each_output(size: int, kernel: int, stride: int, padding: int) -> None:
    shown = sliding_window(size, kernel, stride, padding)
    out = len(range(0, size + 2 * padding - kernel + 1, stride))
    assert len(shown.pictures) == out * out
    assert f"{size} x {size} becomes {out} x {out}" in shown.caption
    assert len({picture.width for picture in shown.pictures}) == 1


def test_sliding_window_counts_the_padding_in_its_window() -> None:
    assert "5 of its cells are padding" in sliding_window(5, 3, 2, 1).captions[0]
    assert "padding" not in sliding_window(5, 3, 2, 1).captions[4]


@pytest.mark.parametrize("arguments", [(2, 3, 1, 0), (9, 3, 1, 1)])
def test_sliding_window_refuses_none_and_too_many(arguments: tuple[int, int, int, int]) -> None:
    with pytest.raises(CourseError, match="sliding_window: expected 1 to 16 outputs"):
        sliding_window(*arguments)


def test_suppression_keeps_the_best_of_those_that_overlap() -> None:
    boxes = [(0, 0, 10, 10), (1, 0, 11, 10), (50, 0, 60, 10)]
    shown = suppression(boxes, [0.5, 0.9, 0.7], threshold=0.5)
    assert [caption.split(":")[0] for caption in shown.captions[1:3]] == [
        "The best that is left has score 0.90",
        "The best that is left has score 0.70",
    ]
    assert "It removes 1 " in shown.captions[1]
    assert "IoU 0.82" in " ".join(words(shown.pictures[1]))
    assert words(shown.pictures[-1]).count("a") == 0
    assert shown.captions[-1] == "2 boxes are left."
    assert "3 boxes are left." in suppression(boxes, [0.5, 0.9, 0.7], threshold=0.9).captions


def test_suppression_wants_a_score_for_each_box() -> None:
    with pytest.raises(CourseError, match="suppression: expected a score for each box"):
        suppression([(0, 0, 1, 1)], [])


def test_memory_levels_are_wider_from_one_to_the_next() -> None:
    widths = [
        float(width) for width in re.findall(r'<rect class="kp-line"[^>]* width="([\d.]+)"', memory_levels().body)
    ]
    assert len(widths) == len(LEVELS)
    assert widths == sorted(widths)


def test_folded_batch_norm_gives_the_same_numbers() -> None:
    picture = folded_batch_norm([[3.0]], [1.0], gamma=[2.0], beta=[5.0], mean=[4.0], variance=[0.25])
    scale, weight, bias = words(picture)[-6], words(picture)[-3], words(picture)[-1]
    x = np.float32(7)
    assert float(weight) * x + float(bias) == (3 * x + 1 - 4) / 0.5 * 2 + 5
    assert scale == "4"


def test_shared_tensor_has_an_arrow_to_each_consumer() -> None:
    assert shared_tensor(consumers=("a", "b", "c")).body.count('<path class="kp-line"') == 4
