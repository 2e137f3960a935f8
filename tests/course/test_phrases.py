"""Words in English that can be said in another language, and the sentences that slips are made of."""

from __future__ import annotations

import ast
import copy
import pickle
from typing import TYPE_CHECKING

import pytest

from kuiper.course.interpreted import interpreted
from kuiper.course.manifest import Exercise, read_syllabus
from kuiper.course.material import CHECKOUT
from kuiper.course.mutants import mutants
from kuiper.course.names import names_in
from kuiper.course.phrases import Phrase, phrase, recognised, said
from kuiper.course.repairs import TURNED_TO, repairs, wrong
from tests.pseudo_language import catalogue_maker

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETE = [exercise for exercise in read_syllabus(CHECKOUT) if exercise.solution_file.is_file()]


def test_phrase_is_its_english_and_survives_a_copy() -> None:
    words = phrase("{what} is left out{place}", what="`abs`", place=phrase(" in what is returned"))
    assert words == "`abs` is left out in what is returned"
    assert {words: 1}["`abs` is left out in what is returned"] == 1
    for other in (copy.deepcopy(words), pickle.loads(pickle.dumps(words))):
        assert (other, other.template, other.fields) == (words, words.template, words.fields)


CHINESE = {
    "{name} is left out{place}": "{place}漏了 {name}",
    " in what is returned": "返回值里，",
    "an index{about} is one too large": "{about}下标大了 1",
    " of {names}": "{names} 的",
    "{what} is set before {loop}": "{what} 在 {loop} 之前赋值",
    "the loop over {name}": "{name} 的循环",
    "something": "某个值",
}


@pytest.mark.parametrize(
    ("words", "chinese"),
    [
        (
            phrase("{name} is left out{place}", name="`abs`", place=phrase(" in what is returned")),
            "返回值里，漏了 `abs`",
        ),
        (phrase("{name} is left out{place}", name="`abs`", place=""), "漏了 `abs`"),
        (phrase("an index{about} is one too large", about=phrase(" of {names}", names="`x`")), "`x` 的下标大了 1"),
        (phrase("an index{about} is one too large", about=""), "下标大了 1"),
        (
            phrase("{what} is set before {loop}", what="`n`", loop=phrase("the loop over {name}", name="`i`")),
            "`n` 在 `i` 的循环之前赋值",
        ),
        (phrase("{what} is set before {loop}", what=phrase("something"), loop="`i`"), "某个值在 `i` 之前赋值"),
        (phrase("{count} of {all}", count=2, all=3), "2 of 3"),
    ],
)
def test_said_puts_fields_where_a_language_wants_them(
    words: Phrase, chinese: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kuiper.course.phrases.translate", lambda message: CHINESE.get(message, message))
    assert said(words) == chinese


def test_recognised_takes_a_text_apart() -> None:
    templates = ["no answer within {seconds} seconds", "index {index} of {count}"]
    assert said(recognised("index 7 of 3", templates)) == "index 7 of 3"
    assert recognised("index 7 of 3", templates).fields == {"index": "7", "count": "3"}  # type: ignore[attr-defined]
    assert type(recognised("index 7 of 3, or so", templates[:1])) is str


def templates_of(words: str) -> Iterator[str]:
    """The messages that a sentence is made of."""
    if isinstance(words, Phrase):
        yield words.template
        for field in words.fields.values():
            yield from templates_of(field)


@pytest.mark.parametrize("exercise", COMPLETE, ids=lambda exercise: exercise.id)
def test_slips_and_repairs_are_messages_of_the_catalogue(exercise: Exercise, messages: frozenset[str]) -> None:
    text = exercise.solution_file.read_text(encoding="utf-8")
    trees = [interpreted(text) if exercise.is_cython else ast.parse(text) for _ in range(2)]
    used: set[str] = set()
    for mutant in mutants(trees[0], text, names_in(text), exercise.symbols[0]):
        assert isinstance(mutant.words, Phrase)
        used.update(templates_of(mutant.words))
    for mutant in repairs(trees[1], text, exercise.symbols[0], text):
        used.update(templates_of(wrong(mutant)))
    assert used <= messages


def test_repairs_turn_messages_round_that_there_are(messages: frozenset[str]) -> None:
    assert {*TURNED_TO, *TURNED_TO.values()} <= messages


@pytest.fixture(scope="module")
def messages() -> frozenset[str]:
    """All messages of kuiper's own catalogue."""
    return frozenset(message.id for message in catalogue_maker().template("kuiper") if message.id)
