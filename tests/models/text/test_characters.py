"""A vocabulary of characters: from a card, to tokens, and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.text.characters import MAX_TOKENS, Characters, read_card

if TYPE_CHECKING:
    from pathlib import Path

CARD = {
    "task": "generate",
    "vocabulary": ["<end>", "<5x4>", "<7x4>", "<rhyme 東>", "東", "<", "\n"],
    "end": "<end>",
    "prefix": [["<5x4>", "<7x4>"], ["<rhyme 東>"]],
}


def card(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**CARD, **changes}), encoding="utf-8")
    return path


def read(path: Path) -> Characters:
    return Characters.of_card(read_card(path), str(path))


def test_of_card_takes_names_end_and_prefix(tmp_path: Path) -> None:
    characters = read(card(tmp_path / "card.json"))
    assert characters.names == tuple(CARD["vocabulary"])
    assert characters.ends == {0}
    assert characters.prefix == ((1, 2), (3,))


def test_of_card_needs_neither_end_nor_prefix(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"task": "generate", "vocabulary": ["a"]}')
    characters = read(tmp_path / "card.json")
    assert (characters.ends, characters.prefix) == (frozenset(), ())


def test_encode_takes_names_that_it_knows_and_letters_where_it_does_not(tmp_path: Path) -> None:
    characters = read(card(tmp_path / "card.json"))
    assert characters.encode("<5x4><rhyme 東>東\n<") == [1, 3, 4, 6, 5]
    with pytest.raises(
        ParameterError, match=r"^prompt: expected characters that the model has learned, got '9' 'x' '>'$"
    ):
        characters.encode("<9x9>")


def test_encode_names_a_few_of_many_unknown_characters() -> None:
    with pytest.raises(ParameterError, match=r"got 'b' 'c' 'd' 'e' 'f' 'g' 'h' 'i' \.\.\.$"):
        Characters(("a",)).encode("abcdefghijkl" * 3)


@given(st.text(st.sampled_from("abc\n<>é東"), max_size=30))
def test_decoder_gives_back_what_was_encoded(text: str) -> None:
    characters = Characters(tuple("abc\n<>é東"))
    decoder = characters.decoder()
    assert "".join(map(decoder.piece, characters.encode(text))) + decoder.rest() == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "classify"}, "a model card with the task 'generate', got 'classify'"),
        ({"vocabulary": None}, f"'vocabulary': a list of 1 to {MAX_TOKENS} names, got None"),
        ({"vocabulary": []}, f"'vocabulary': a list of 1 to {MAX_TOKENS} names, got 0"),
        ({"vocabulary": ["a", "bc"]}, "'vocabulary': characters, or names such as <end>, got 'bc'"),
        ({"vocabulary": ["a", 3]}, "'vocabulary': characters, or names such as <end>, got 3"),
        ({"vocabulary": ["<end>", "a", "a"]}, "'vocabulary': each name once, got 'a' twice"),
        ({"end": "<stop>"}, "'end': names of the vocabulary, got '<stop>'"),
        ({"end": [1]}, r"'end': names of the vocabulary, got \[1\]"),
        ({"prefix": ["<5x4>"]}, r"'prefix': a list of lists of names, got \['<5x4>'\]"),
        ({"prefix": [[]]}, r"'prefix': a list of lists of names, got \[\[\]\]"),
        ({"prefix": [["<5x4>"], ["x"]]}, "'prefix': names of the vocabulary, got 'x'"),
    ],
)
def test_of_card_says_what_is_wrong(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFormatError, match=f"expected {message}$"):
        read(card(tmp_path / "card.json", **change))


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"task": "generate", "task": "generate"}'])
def test_read_card_refuses_what_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(ModelFormatError, match=r"card\.json: expected a model card"):
        read(tmp_path / "card.json")
