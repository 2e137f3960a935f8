"""What is stored of a picture is shown by every viewer, says what it shows, and stays small."""

from __future__ import annotations

import base64
import io
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_output
from PIL import Image

from kuiper.course.material import SITE_FORM
from kuiper.course.pictures import grid, steps
from kuiper.course.pictures.photo import photo
from kuiper.course.stored_pictures import ZOOM, comparable, drawing, is_shown_untrusted, points, store_picture
from kuiper.graph import RuntimeGraph, pnnx


def output_of(thing: Any) -> Any:
    """What a notebook gets of a thing."""
    if hasattr(thing, "_repr_mimebundle_"):
        return new_output("execute_result", data=thing._repr_mimebundle_())
    return new_output("execute_result", data={"image/svg+xml": thing._repr_svg_(), "text/plain": repr(thing)})


def little_graph() -> RuntimeGraph:
    graph = RuntimeGraph(pnnx.parse_param("7767517\n2 1\npnnx.Input a 0 1 x\npnnx.Output b 1 0 x\n", "little"))
    graph.init()
    return graph


THINGS = [
    grid([1, 2], "x").captioned("two numbers"),
    steps([grid([1]), grid([2])], ["one", "two"], caption="numbers"),
    little_graph().draw(),
]


@pytest.mark.parametrize("thing", THINGS)
def test_store_picture_leaves_what_every_viewer_shows(thing: Any) -> None:
    output = output_of(thing)
    assert not is_shown_untrusted(output)
    store_picture(output)
    assert set(output.data) == {"image/png", SITE_FORM, "text/plain"}
    assert is_shown_untrusted(output)
    with Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))) as image:
        shown = output.metadata["image/png"]
        assert image.size == (ZOOM * shown["width"], ZOOM * shown["height"])
        assert len(image.convert("RGBA").convert("RGB").getcolors(1 << 20) or []) > 3  # ground, lines and letters
    assert shown["alt"]
    assert "<img alt=" in output.data[SITE_FORM]
    nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])]))


def test_store_picture_takes_the_caption_as_alternative_text() -> None:
    for kind, thing in (("image/png", THINGS[0]), ("image/jpeg", photo(Image.new("L", (2, 3)), "two numbers"))):
        output = output_of(thing)
        store_picture(output)
        assert is_shown_untrusted(output)
        assert output.metadata[kind]["alt"] == "two numbers"


def test_store_picture_leaves_other_outputs_alone() -> None:
    for data in ({"text/html": "<table></table>", "text/plain": "t"}, {"image/png": "AAAA"}, {"text/plain": "4"}):
        output = new_output("execute_result", data=data)
        store_picture(output)
        assert output.data == data


@pytest.mark.parametrize("thing", THINGS)
def test_comparable_is_the_same_before_and_after_storing(thing: Any) -> None:
    before = comparable(output_of(thing).data)
    stored = output_of(thing)
    store_picture(stored)
    assert comparable(stored.data) == before
    assert any("<svg" in text for text in before)


def test_comparable_tells_pictures_apart() -> None:
    assert comparable(output_of(grid([1])).data) != comparable(output_of(grid([2])).data)


@pytest.mark.parametrize(("count", "bits"), [(3, 4), (16, 4), (17, 8), (48, 8)])
def test_drawing_with_few_colours_keeps_every_one(count: int, bits: int) -> None:
    colours = np.random.default_rng(count).integers(0, 256, (count, 4), np.uint8)
    points = colours[np.arange(5 * 53).reshape(5, 53) % count]  # an odd width: half of the last byte is nothing
    data = drawing(Image.fromarray(points))
    with Image.open(io.BytesIO(data)) as image:
        assert np.array_equal(np.asarray(image.convert("RGBA")), points)
    assert data[24] == bits


def test_drawing_of_many_colours_is_as_close_as_its_palette_allows() -> None:
    edge = np.linspace(0, 255, 256).astype(np.uint8)  # what a smooth letter has, from ink to ground
    points = np.stack([edge, edge, edge, np.full_like(edge, 255)], axis=-1)[None].repeat(4, axis=0)
    with Image.open(io.BytesIO(drawing(Image.fromarray(points)))) as image:
        got = np.asarray(image.convert("RGBA")).astype(int)
    assert len(np.unique(got.reshape(-1, 4), axis=0)) == 48
    assert np.abs(got - points).max() <= 6


def test_points_of_a_photo_keep_its_colours() -> None:
    kind, pixels, size = points(photo(Image.linear_gradient("L"), "grey levels").svg())
    assert kind == "image/jpeg"
    with Image.open(io.BytesIO(pixels)) as image:
        assert len(image.convert("L").getcolors() or []) > 200
    assert size == (276, 276)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"text/plain": "4"}, True),
        ({"text/html": "<table></table>", "text/plain": "t"}, True),
        ({"image/png": "AAAA", "text/plain": "t"}, True),
        ({"image/png": "AAAA", "text/html": "<svg></svg>"}, False),
        ({"image/png": "AAAA", "image/svg+xml": "<svg></svg>"}, False),
        ({"image/svg+xml": "<svg></svg>", "text/plain": "t"}, False),
        ({"text/html": '<img src="x">', "text/plain": "t"}, False),
    ],
)
def test_is_shown_untrusted_knows_what_viewers_refuse(data: dict[str, str], shown: bool) -> None:
    assert is_shown_untrusted(new_output("execute_result", data=data)) == shown
