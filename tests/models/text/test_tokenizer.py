"""Hugging Face's tokenizers: what they encode, how their text streams, and which files are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Theirs
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.text.tokenizer import LONGEST_PROMPT, StreamDecoder, Tokenizer
from tests.encoders import encoder_folder

if TYPE_CHECKING:
    from pathlib import Path

MERGES = [("t", "h"), ("th", "e"), ("Ġ", "the")]


def of_bytes() -> Theirs:
    """A byte-pair encoding of bytes, as GPT-2's, with few merges, and a token at the end that is no text."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {name: i for i, name in enumerate([*letters, *("".join(pair) for pair in MERGES)])}
    tokenizer = Theirs(models.BPE(vocabulary, MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


def of_pieces() -> Theirs:
    """Pieces with bytes to fall back on, as Llama's: a space in front of the text stands for none."""
    names = ["<s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "▁a", "b", "▁b"]
    vocabulary = {name: i for i, name in enumerate(names)}
    tokenizer = Theirs(models.BPE(vocabulary, [("▁", "b")], byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])
    return tokenizer


def saved(path: Path, tokenizer: Theirs) -> Path:
    tokenizer.save(str(path / "tokenizer.json"))
    return path / "tokenizer.json"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[Tokenizer]:
    return [Tokenizer(saved(tmp_path_factory.mktemp(make.__name__), make())) for make in (of_bytes, of_pieces)]


def streamed(tokenizer: Tokenizer, tokens: list[int]) -> list[str]:
    decoder = tokenizer.decoder()
    return [*map(decoder.piece, tokens), decoder.rest()]


def test_encode_merges_pairs_and_knows_special_tokens(tmp_path: Path) -> None:
    tokenizer = Tokenizer(saved(tmp_path, of_bytes()), [259])
    assert tokenizer.encode("the the<|end|>") == [257, 258, 259]
    assert tokenizer.token("<|end|>") == 259
    assert tokenizer.token("nothing") is None
    assert (tokenizer.size, tokenizer.ends, tokenizer.prefix) == (260, {259}, ())
    assert tokenizer.decode([257, 258, 259]) == "the the"


def test_encode_puts_the_beginning_only_before_a_text_that_lacks_it(tmp_path: Path) -> None:
    tokenizer = Tokenizer(saved(tmp_path, of_pieces()))
    assert tokenizer.encode("b") == [0, *tokenizer.encode("b", is_complete=True)]


@given(st.text(st.sampled_from("the ab é東🙂\n"), max_size=20))
def test_stream_shows_the_same_text_as_decoding_it_whole(both: list[Tokenizer], text: str) -> None:
    for tokenizer in both:
        tokens = tokenizer.encode(text)
        pieces = streamed(tokenizer, tokens)
        assert "".join(pieces) == tokenizer.decode(tokens)
        assert not any("\ufffd" in piece for piece in pieces)


def test_stream_waits_for_the_end_of_a_character(both: list[Tokenizer]) -> None:
    assert streamed(both[0], both[0].encode("a🙂b")) == ["a", "", "", "", "🙂", "b", ""]


def test_stream_keeps_the_space_between_pieces(both: list[Tokenizer]) -> None:
    tokenizer = both[1]
    assert "".join(streamed(tokenizer, tokenizer.encode("b b"))) == "b b"


def test_stream_says_at_the_end_that_a_character_is_incomplete(both: list[Tokenizer]) -> None:
    tokens = both[0].encode("a🙂")[:-1]
    assert streamed(both[0], tokens)[:-1] == ["a", "", "", ""]
    assert streamed(both[0], tokens)[-1] == "\ufffd"


def test_stream_does_not_wait_forever_for_bytes_that_are_no_character() -> None:
    lengths: list[int] = []

    def decode(tokens: list[int]) -> str:
        lengths.append(len(tokens))
        return "\ufffd" * len(tokens)

    decoder = StreamDecoder(decode)
    assert len("".join(decoder.piece(token) for token in range(1000)) + decoder.rest()) == 1000
    assert max(lengths) < 40


def test_padding_and_truncation_of_a_file_are_not_applied(tmp_path: Path) -> None:
    tokenizer = of_bytes()
    tokenizer.enable_padding(length=10**6)
    tokenizer.enable_truncation(1)
    assert Tokenizer(saved(tmp_path, tokenizer)).encode("the the") == [257, 258]


def test_encode_refuses_what_is_no_text_or_too_long(both: list[Tokenizer]) -> None:
    with pytest.raises(ParameterError, match=r"prompt: expected text, got half a character, '\\ud800'"):
        both[0].encode("a\ud800")
    with pytest.raises(ParameterError, match=f"prompt: expected at most {LONGEST_PROMPT} characters"):
        both[0].encode("a" * (LONGEST_PROMPT + 1))


def changed(**parts: Any) -> bytes:
    return json.dumps({**json.loads(of_bytes().to_str()), **parts}).encode()


WRONG_FILES = {
    "empty": b"",
    "truncated": of_bytes().to_str().encode()[:-40],
    "not_utf8": b"\xff" + of_bytes().to_str().encode(),
    "list": b"[]",
    "without_model": b'{"version": "1.0"}',
    "unknown_model": changed(model={"type": "Magic"}),
    "merge_of_nothing": changed(model={"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}),
    "broken_expression": changed(
        pre_tokenizer={"type": "Split", "pattern": {"Regex": "(("}, "behavior": "Isolated", "invert": False}
    ),
    "deep": b"[" * 100_000,
    "pickle": b"\x80\x04\x95",
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_malformed_file_is_one_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(WRONG_FILES[name])
    with pytest.raises(ModelFormatError, match=r"tokenizer\.json: expected a tokenizer\.json, .*got .+"):
        Tokenizer(path)


def test_file_that_is_none_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelFormatError, match=r"expected a tokenizer\.json, got nothing there"):
        Tokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(ModelFormatError, match=r"expected a tokenizer\.json, got a directory"):
        Tokenizer(tmp_path)
    monkeypatch.setattr("kuiper.models.text.tokenizer.MAX_FILE", 100)
    with pytest.raises(ModelFormatError, match=r"expected a tokenizer\.json of at most 100 bytes, got more"):
        Tokenizer(saved(tmp_path, of_bytes()))


def test_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, of_bytes())
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    message = r"^tokenizer: expected the package tokenizers, got none; pip install tokenizers$"
    with pytest.raises(ImportError, match=message):
        Tokenizer(path)


def test_encode_within_leaves_off_the_end_of_a_text_and_keeps_what_stands_around(tmp_path: Path) -> None:
    tokenizer = Tokenizer(encoder_folder(tmp_path / "tiny") / "tokenizer.json")
    assert tokenizer.added == 2
    inside = tokenizer.encode("abcde", is_complete=True)
    for most in range(3, 9):
        expected = [256, *inside[: most - 2], 257]
        assert tokenizer.encode_within("abcde", most) == (expected, max(0, 7 - most))
    assert tokenizer.encode_within("</s></s>", 3) == ([256, 257, 257], 1)  # of which only the last one was added
