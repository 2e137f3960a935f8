"""Language models by name, by file and by folder."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kuiper.errors import ModelFormatError, ParameterError, UnsupportedOperatorError
from kuiper.graph import pnnx
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.perplexity import perplexity
from kuiper.models.text.random_decoder import random_decoder
from kuiper.models.text.sampling import Sampler
from tests.models.text.folders import TEMPLATE, tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEF"


def tiny_file(folder: Path, **card: Any) -> Path:
    """A decoder of characters as a graph with its card."""
    pnnx.save(random_decoder(seed=3), folder / "tiny.pnnx.param")
    content = {"task": "generate", "context": 48, "vocabulary": list(LETTERS), **card}
    (folder / "tiny.json").write_text(json.dumps(content), encoding="utf-8")
    return folder / "tiny.pnnx.param"


def test_load_of_a_folder_generates_by_its_tokenizer(tmp_path: Path) -> None:
    model = language_model.load(tiny_folder(tmp_path / "tiny"))
    assert (model.context, model.chat, model.vocabulary.ends) == (64, None, {257})
    generation = Generation(model, model.vocabulary.encode("Grüße"), Sampler(temperature=0), max_tokens=20)
    text = "".join(generation)
    assert generation.account.prompt_tokens == 7
    assert generation.account.tokens == 20
    again = Generation(model, model.vocabulary.encode("Grüße"), Sampler(temperature=0), max_tokens=20)
    assert "".join(again) == text


def test_load_of_a_folder_finds_its_chat_template(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "tiny")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}), encoding="utf-8")
    model = language_model.load(folder)
    assert model.chat is not None
    assert model.chat.prompt([{"role": "user", "content": "hi"}]) == "<user>hi"


def test_end_tokens_come_from_the_generation_config_first(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "tiny")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [3, 5]}), encoding="utf-8")
    assert language_model.load(folder).vocabulary.ends == {3, 5}


@pytest.mark.parametrize("optimize", [True, False])
def test_load_of_a_file_takes_characters_from_its_card(tmp_path: Path, optimize: bool) -> None:
    model = language_model.load(tiny_file(tmp_path), optimize=optimize)
    assert model.context == 48
    text = "".join(Generation(model, model.vocabulary.encode("abc"), Sampler(seed=4), max_tokens=30))
    assert len(text) == 30
    assert set(text) <= set(LETTERS)


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({"task": "classify"}, "expected a model card with the task 'generate', got 'classify'"),
        ({"context": 0}, "expected 'context': an integer of 1 to"),
        ({"context": "long"}, "expected 'context'"),
        ({"context": 1 << 40}, "expected 'context'"),
        ({"end_tokens": 3}, "expected 'end_tokens': a list of integers"),
        ({"end_tokens": [-1]}, "expected 'end_tokens'"),
        ({"vocabulary": ["a", "a"]}, "each name once"),
    ],
)
def test_cards_that_cannot_be_are_refused(tmp_path: Path, card: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        language_model.load(tiny_file(tmp_path, **card))


def test_load_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"shakespear\.json: expected a model card in JSON, got nothing there"):
        language_model.load("shakespear")
    with pytest.raises(ModelFormatError, match="model card"):
        language_model.load(bundled("cifar_resnet20"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFormatError, match=r"config\.json"):
        language_model.load(tmp_path / "empty")
    folder = tiny_folder(tmp_path / "tiny")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelFormatError, match=r"tokenizer\.json"):
        language_model.load(folder)


def test_load_refuses_a_family_that_kuiper_lacks(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "tiny")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "mamba"}), encoding="utf-8")
    with pytest.raises(UnsupportedOperatorError, match="expected a model_type of llama"):
        language_model.load(folder)


def test_load_names_a_weight_of_another_shape(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "tiny")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 65}), encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"'model.layers.0.mlp.gate_proj.weight' of shape \(65, 32\)"):
        language_model.load(folder)


def test_perplexity_is_that_of_the_probabilities(tmp_path: Path) -> None:
    model = language_model.load(tiny_file(tmp_path))
    tokens = np.random.default_rng(0).integers(0, 32, 40)
    scores = np.asarray(model.graph(tokens[None]))[0].astype(np.float64)
    chances = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    expected = math.exp(-np.mean(np.log(chances[np.arange(39), tokens[1:]])))
    assert perplexity(model, tokens.tolist()) == pytest.approx(expected, rel=1e-4)


def test_perplexity_of_a_long_text_predicts_every_token_but_the_first(tmp_path: Path) -> None:
    model = language_model.load(tiny_file(tmp_path))
    tokens = np.random.default_rng(0).integers(0, 32, 120).tolist()
    windows = [tokens[first : first + 48] for first in (0, 47, 94)]
    parts = [(len(window) - 1) * math.log(perplexity(model, window)) for window in windows]
    assert perplexity(model, tokens) == pytest.approx(math.exp(sum(parts) / 119), rel=1e-6)


def test_perplexity_needs_two_tokens(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="at least two tokens, got 1"):
        perplexity(language_model.load(tiny_file(tmp_path)), [1])
