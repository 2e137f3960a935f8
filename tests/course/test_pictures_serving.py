"""The pictures of the lectures on serving: pages and their texts, steps and their rows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from kuiper.course.errors import CourseError
from kuiper.course.pictures.batches import BatchStep, batch_steps
from kuiper.course.pictures.grid import hue
from kuiper.course.pictures.paging import Pages, page_steps

if TYPE_CHECKING:
    from kuiper.course.pictures import Picture

WIDEST = 620
ALONE = Pages({"a": ([5, 2], 6)}, {5: list("ROME"), 2: list("O:")})
FORKED = Pages({"a": ([5, 2], 6), "b": ([5, 2], 6)}, ALONE.contents)
WRITTEN = Pages({"a": ([5, 2], 6), "b": ([5, 7], 7)}, {**ALONE.contents, 7: list("O:!")}, marked=[7])
CLOSED = Pages({"b": ([5, 7], 7)}, WRITTEN.contents, kept=[2])


def shown(*states: Pages, pages: int = 8) -> list[Picture]:
    return list(page_steps(states, [""] * len(states), pages=pages, page_size=4).pictures)


def words(picture: Picture) -> list[str]:
    return [found.text or "" for found in ET.fromstring(picture.svg()).iter("{http://www.w3.org/2000/svg}text")]


def fills(picture: Picture) -> list[str]:
    return re.findall(r"fill:(#\w+)", picture.body)


def test_page_steps_names_tables_tokens_and_users() -> None:
    (picture,) = shown(ALONE)
    assert words(picture)[:4] == ["a", "5", "2", "6 tokens"]
    assert words(picture).count("free") == 6
    assert [word for word in words(picture)[4:] if word in "ROME:"] == [*"O:", *"ROME"]  # page 2 comes before 5


def test_page_steps_has_the_colour_of_the_text_and_grey_for_what_is_shared() -> None:
    alone, forked, written = shown(ALONE, FORKED, WRITTEN)
    assert set(fills(alone)) == {hue(0)}
    assert set(fills(forked)) == {hue(8)}
    assert set(fills(written)) == {hue(0), hue(1), hue(8)}
    assert "a b" in words(forked)


def test_page_steps_keeps_a_row_for_a_text_that_is_gone() -> None:
    pictures = shown(ALONE, FORKED, WRITTEN, CLOSED)
    assert len({(picture.width, picture.height) for picture in pictures}) == 1
    assert "not there" in words(pictures[0])
    assert "kept" in words(pictures[3])


def test_page_steps_shows_what_a_kept_page_holds_and_not_what_a_free_one_held() -> None:
    kept, free = shown(CLOSED, Pages(CLOSED.tables, CLOSED.contents))
    assert words(kept).count("O") == 3
    assert words(free).count("O") == 2


def test_page_steps_fits_a_telephone() -> None:
    assert all(picture.width <= 310 for picture in shown(ALONE, pages=16))


@pytest.mark.parametrize(("pages", "match"), [(17, "1 to 16 pages"), (4, "pages 0 to 3, got \\[5\\]")])
def test_page_steps_refuses_what_it_cannot_draw(pages: int, match: str) -> None:
    with pytest.raises(CourseError, match=match):
        shown(ALONE, pages=pages)


STEPS = (
    BatchStep({"a": 3}, draws="a", waiting="b"),
    BatchStep({"a": 1, "b": 5}, draws="a"),
    BatchStep({"a": 1, "b": 2}, draws="ab"),
    BatchStep({"a": 1}, draws="a", put_back="b", waiting="b"),
    BatchStep({"b": 6}),
)


def test_batch_steps_says_what_happens() -> None:
    assert batch_steps("ab", STEPS, budget=6).captions == (
        "a joins with 3 rows. b waits.",
        "b joins with 5 rows. a writes.",
        "b reads 2 rows. a writes.",
        "b is put back. a writes.",
        "b joins with 6 rows. a has left.",
    )


def test_batch_steps_names_several_at_once() -> None:
    done = [BatchStep({"a": 1, "b": 1}), BatchStep({"a": 1, "b": 1}, draws="ab"), BatchStep({})]
    assert batch_steps("ab", done, budget=2).captions[1:] == ("a and b write.", "a and b have left.")
    assert batch_steps("ab", [BatchStep({})], budget=2).captions == ("Nothing to do.",)


def test_batch_steps_explains_its_signs_once() -> None:
    shown = batch_steps("ab", STEPS, budget=6, caption="Two readers.")
    assert shown.caption.startswith("Two readers. A number says how many rows;")
    assert not any("strong" in word for picture in shown.pictures for word in words(picture))


def test_batch_steps_has_a_box_for_each_row_with_the_name_of_its_reader() -> None:
    picture = batch_steps("ab", STEPS, budget=6).pictures[1]
    assert words(picture)[:7] == ["step 2: 6 of 6 rows", "a", "b", "b", "b", "b", "b"]
    empty = batch_steps("ab", STEPS, budget=6).pictures[0]
    assert words(empty)[:7] == ["step 1: 3 of 6 rows", "a", "a", "a", "", "", ""]


def test_batch_steps_is_strong_where_a_token_is_drawn() -> None:
    picture = batch_steps("ab", STEPS[:1], budget=6).pictures[0]
    assert re.findall(r"fill-opacity:([\d.]+)", picture.body) == ["0.3", "0.3", "0.62", "0.62"]  # rows, then the table


def test_batch_steps_shows_no_step_before_its_turn() -> None:
    pictures = batch_steps("ab", STEPS, budget=6).pictures
    assert [words(picture).count("↩") for picture in pictures] == [0, 0, 0, 1, 1]
    assert len({(picture.width, picture.height) for picture in pictures}) == 1
    assert pictures[0].width <= WIDEST


@pytest.mark.parametrize(
    ("readers", "done", "budget"),
    [("abcdefghijk", STEPS, 6), ("ab", [], 6), ("ab", STEPS, 25), ("ab", STEPS, 5), ("a", STEPS, 6)],
)
def test_batch_steps_refuses_what_it_cannot_draw(readers: str, done: list[BatchStep], budget: int) -> None:
    with pytest.raises(CourseError, match="batch_steps: expected"):
        batch_steps(readers, done, budget=budget)
