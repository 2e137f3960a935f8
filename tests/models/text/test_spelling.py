"""The bytes of tokens: together they are the text that Hugging Face's package makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer as Oracle
from tokenizers import decoders, models, pre_tokenizers

from kuiper.errors import ModelFormatError
from kuiper.models.text.characters import Characters
from kuiper.models.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

TEXT = "Zwölf 山 & more,\n\tyes \U0001f600!"


def byte_level() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    oracle = Oracle(models.BPE({character: number for number, character in enumerate(alphabet)}, []))
    oracle.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    oracle.decoder = decoders.ByteLevel()
    return oracle


def sentencepiece() -> Any:
    """As Llama 2 has it: pieces with a mark for the space, and bytes for what is in none of them."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"Zwlfmoreysö&,!"]
    oracle = Oracle(
        models.BPE({piece: number for number, piece in enumerate(pieces)}, [], byte_fallback=True, unk_token="<unk>")
    )
    oracle.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    oracle.decoder = decoders.Sequence(steps)
    return oracle


def metaspace() -> Any:
    oracle = Oracle(models.BPE({piece: number for number, piece in enumerate(["▁", *dict.fromkeys(TEXT)])}, []))
    oracle.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    oracle.decoder = decoders.Metaspace(prepend_scheme="never")
    return oracle


@pytest.mark.parametrize("make", [byte_level, sentencepiece, metaspace])
def test_spellings_are_the_bytes_of_the_text(tmp_path: Path, make: Any) -> None:
    oracle = make()
    oracle.add_special_tokens(["<|end|>"])
    oracle.add_tokens(["<think>"])
    oracle.save(str(tmp_path / "tokenizer.json"))
    found = Tokenizer(tmp_path / "tokenizer.json")
    tokens = oracle.encode(TEXT).ids
    assert len(tokens) > 10
    assert b"".join(found.spellings[token].written for token in tokens).decode() == oracle.decode(tokens) == TEXT
    end, think = found.token("<|end|>"), found.token("<think>")
    assert end is not None
    assert think is not None
    assert found.spellings[end] == (b"<|end|>", False)
    assert found.spellings[think] == (b"<think>", True)
    assert len(found.spellings) == found.size


def test_spellings_of_pieces_of_words(tmp_path: Path) -> None:
    oracle = Oracle(models.WordPiece({"[UNK]": 0, "play": 1, "##ing": 2, "ball": 3}, unk_token="[UNK]"))
    oracle.pre_tokenizer = pre_tokenizers.Whitespace()
    oracle.decoder = decoders.WordPiece()
    oracle.save(str(tmp_path / "tokenizer.json"))
    found = Tokenizer(tmp_path / "tokenizer.json")
    tokens = oracle.encode("playing ball").ids
    assert b"".join(found.spellings[token].written for token in tokens).decode() == f" {oracle.decode(tokens)}"


def test_spellings_without_a_decoder_and_with_holes(tmp_path: Path) -> None:
    oracle = Oracle(models.WordLevel({"a": 0, "b": 3}, unk_token="a"))
    oracle.save(str(tmp_path / "tokenizer.json"))
    hole = (b"", False)
    assert Tokenizer(tmp_path / "tokenizer.json").spellings == ((b" a", True), hole, hole, (b" b", True))


def test_a_decoder_whose_tokens_have_no_bytes_is_refused(tmp_path: Path) -> None:
    oracle = Oracle(models.WordLevel({"a": 0}, unk_token="a"))
    oracle.decoder = decoders.CTC()
    oracle.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ModelFormatError, match="a decoder whose tokens have bytes of their own, got CTC"):
        assert Tokenizer(tmp_path / "tokenizer.json").spellings


def test_names_of_characters_are_no_text() -> None:
    characters = Characters(("<end>", "é", "<"), frozenset({0}))
    assert characters.spellings == ((b"<end>", False), ("é".encode(), True), (b"<", True))
