"""From texts to vectors: tokens, what is cut, pooling, and many texts at once."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import ModelFormatError, ParameterError, UnsupportedOperatorError
from kuiper.models.text import embedding_model
from kuiper.models.text.embedding_model import CALL_TOKENS, EmbeddingModel, Tokens, TruncationWarning
from kuiper.models.text.encoder_config import read_config
from kuiper.models.text.encoder_graph import encoder_graph
from tests.encoders import difference, encoder_folder, sentence_folder, stored, write_json
from tests.fixtures.export_encoders import VOCABULARY

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["a cat sleeps", "", "Grüße", "a cat sleeps on the wall"]


class NoTokenizer:
    """For texts that come as tokens."""

    added = 0


def test_vectors_are_pooled_as_torch_does() -> None:
    case = stored("bert")
    graph = kuiper.load(encoder_graph(read_config(case.configuration), case.weights))
    for name, expected in case.pooled.items():
        pooling: Any = "mean" if name == "normalized" else name
        model = EmbeddingModel(
            graph, NoTokenizer(), width=20, vocabulary_size=VOCABULARY, max_length=48, pooling=pooling,  # type: ignore[arg-type]
            normalize=name == "normalized",
        )  # fmt: skip
        got = model.vectors(case.texts)
        assert got.dtype == np.float32
        assert difference(got, expected) < 1e-5


def test_encode_gives_a_text_the_same_bits_in_any_company(tmp_path: Path) -> None:
    model = embedding_model.load(encoder_folder(tmp_path / "tiny"))
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(97, 123, rng.integers(0, 62)))) for _ in range(3 * CALL_TOKENS // 30)]
    whole = model.encode(texts)
    assert whole.shape == (len(texts), 32)
    for at in range(0, len(texts), 7):
        np.testing.assert_array_equal(model.encode([texts[at]])[0], whole[at])


def test_encode_of_no_texts_is_empty(tmp_path: Path) -> None:
    assert embedding_model.load(encoder_folder(tmp_path / "tiny")).encode([]).shape == (0, 32)


def test_load_takes_what_the_folder_says_unless_it_is_told(tmp_path: Path) -> None:
    folder = sentence_folder(tmp_path / "tiny", mode="cls_token")
    model = embedding_model.load(folder)
    assert (model.pooling, model.normalize, model.max_length, model.width) == ("cls", True, 32, 32)
    np.testing.assert_allclose(np.linalg.norm(model.encode(TEXTS), axis=1), 1, atol=1e-6)
    other = embedding_model.load(folder, pooling="last", normalize=False, max_length=10)
    assert (other.pooling, other.normalize, other.max_length) == ("last", False, 10)
    plain = embedding_model.load(encoder_folder(tmp_path / "plain"))
    assert (plain.pooling, plain.normalize, plain.max_length) == ("mean", False, 64)


def test_a_folder_cannot_promise_longer_texts_than_the_network_reads(tmp_path: Path) -> None:
    assert embedding_model.load(sentence_folder(tmp_path / "tiny", most=512)).max_length == 64
    with pytest.raises(
        ParameterError, match="max_length: expected at most the 64 tokens that the network reads, got 65"
    ):
        embedding_model.load(tmp_path / "tiny", max_length=65)
    for length in (0, 2):
        with pytest.raises(ParameterError, match="more than the 2 tokens around a text"):
            embedding_model.load(tmp_path / "tiny", max_length=length)


def test_a_text_that_is_too_long_is_cut_and_that_is_said(tmp_path: Path) -> None:
    model = embedding_model.load(encoder_folder(tmp_path / "tiny"), max_length=8)
    (found,) = model.tokens(["abcdefgh"])
    assert found == Tokens([256, *model.tokenizer.encode("abcdef", is_complete=True), 257], 2)
    with pytest.warns(
        TruncationWarning, match="tiny: 1 of 2 texts has more than 8 tokens: only its beginning is encoded"
    ):
        got = model.encode(["abcdefgh", "abc"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(got, model.encode(["abcdef", "abc"]))


def test_lower_case_is_as_the_folder_says(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "tiny")
    write_json(folder / "sentence_bert_config.json", {"do_lower_case": True})
    model = embedding_model.load(folder)
    np.testing.assert_array_equal(*model.encode(["A Cat", "a cat"]))


def test_a_prompt_stands_in_front_of_every_text(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "tiny")
    plain = embedding_model.load(folder)
    prompts = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    write_json(folder / "config_sentence_transformers.json", prompts)
    got = embedding_model.load(folder).encode(["a cat"])
    np.testing.assert_array_equal(got, plain.encode(["query: a cat"]))


def test_encode_needs_a_list_of_texts(tmp_path: Path) -> None:
    model: Any = embedding_model.load(encoder_folder(tmp_path / "tiny"))
    for texts in ("a cat", [b"a"], [["a"]]):
        with pytest.raises(ParameterError, match="texts: expected a list of texts"):
            model.encode(texts)
    with pytest.raises(ParameterError, match="half a character"):
        model.encode(["\ud800"])
    with pytest.raises(ParameterError, match="texts: expected 1 to 64 tokens of each, got 0"):
        model.vectors([[1], []])
    with pytest.raises(ParameterError, match="got 65"):
        model.vectors([[1] * 65])
    with pytest.raises(kuiper.KuiperError, match="259"):
        model.vectors([[1, 259]])
    with pytest.raises(ParameterError, match="pooling: expected one of mean, cls, last, got 'max'"):
        embedding_model.load(tmp_path / "tiny", pooling="max")  # type: ignore[arg-type]


def test_threads_share_a_model(tmp_path: Path) -> None:
    model = embedding_model.load(encoder_folder(tmp_path / "tiny"))
    expected = model.encode(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(model.encode, [TEXTS] * 16):
            np.testing.assert_array_equal(got, expected)


def test_load_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"expected a folder with config\.json"):
        embedding_model.load(tmp_path / "nowhere")
    folder = encoder_folder(tmp_path / "tiny")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelFormatError, match=r"tokenizer\.json: expected a tokenizer\.json, got nothing there"):
        embedding_model.load(folder)
    write_json(folder / "config.json", {"model_type": "mpnet"})
    with pytest.raises(UnsupportedOperatorError, match="expected a model_type of bert"):
        embedding_model.load(folder)


def test_is_in_tells_encoders_from_others(tmp_path: Path) -> None:
    assert embedding_model.is_in(sentence_folder(tmp_path / "tiny"))
    assert not embedding_model.is_in(tmp_path)
    write_json(tmp_path / "config.json", {"model_type": "llama"})
    assert not embedding_model.is_in(tmp_path)
