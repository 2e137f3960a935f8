"""Encoders written as graphs: their vectors are those of Hugging Face's transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.graph import pnnx
from kuiper.graph.packed_batch import PackedBatch
from kuiper.models.text.encoder_config import read_config
from kuiper.models.text.encoder_graph import encoder_graph
from kuiper.models.text.random_encoder import random_config, random_encoder, random_weights
from tests.encoders import difference, stored
from tests.fixtures.export_encoders import CONFIGURATIONS, original, texts_of, vectors_of, weights_of


@pytest.mark.parametrize("optimize", [True, False], ids=["engine", "layers"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_encoders_give_the_vectors_of_transformers(name: str, optimize: bool) -> None:
    case = stored(name)
    model = kuiper.load(encoder_graph(read_config(case.configuration), case.weights), optimize=optimize)
    for tokens, expected in zip(case.texts, case.vectors, strict=True):
        assert difference(model(np.array([tokens]))[0], expected) < 1e-5
    assert difference(PackedBatch(model, 64).run(case.texts), np.concatenate(case.vectors)) < 1e-5


@pytest.mark.torch
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_long_texts_beside_short_ones_agree_with_transformers(name: str) -> None:
    longer = {"max_position_embeddings": 340}
    wider = {"dim": 64} if name == "distilbert" else {"hidden_size": 64}
    wider |= {"n_heads": 2} if name == "distilbert" else {"num_attention_heads": 2}
    module: Any = original({**CONFIGURATIONS[name], **longer, **wider}, seed=3)
    model = kuiper.load(encoder_graph(read_config(module.config.to_dict()), weights_of(module)))
    texts = texts_of(2, (300, 1, 65, 20, 129))
    expected = vectors_of(module, texts)
    got = PackedBatch(model, 600).run([text.tolist() for text in texts])
    assert difference(got, np.concatenate(expected)) < 1e-5


def test_an_encoder_may_be_a_part_of_another_network() -> None:
    config = random_config()
    weights = random_weights(config, seed=1)
    whole = {f"bert.{name}": data for name, data in weights.items()} | {"cls.bias": np.zeros(3, np.float32)}
    tokens = np.array([[1, 5, 9, 30]])
    parts = [kuiper.load(encoder_graph(config, these))(tokens) for these in (weights, whole)]
    np.testing.assert_array_equal(np.asarray(parts[0]), np.asarray(parts[1]))


@pytest.mark.parametrize("optimize", [True, False])
def test_encoder_graphs_are_saved_and_read_back(tmp_path: Any, optimize: bool) -> None:
    graph = random_encoder(seed=1)
    pnnx.save(graph, tmp_path / "tiny.pnnx.param")
    tokens = np.array([[1, 5, 9, 30], [2, 2, 4, 8]])
    read, made = (kuiper.load(one, optimize=optimize)(tokens) for one in (tmp_path / "tiny.pnnx.param", graph))
    np.testing.assert_array_equal(np.asarray(read), np.asarray(made))


def test_a_missing_weight_is_named() -> None:
    config = random_config()
    weights = random_weights(config, seed=1)
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(
        ModelFormatError, match=r"folder: expected a weight 'encoder.layer.1.output.dense.bias', got none"
    ):
        encoder_graph(config, weights, "folder")


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        ({"model_type": "mpnet"}, UnsupportedOperatorError, "expected a model_type of bert, roberta"),
        ({"model_type": ["bert"]}, UnsupportedOperatorError, "expected a model_type of bert"),
        ({"hidden_act": "swish"}, UnsupportedOperatorError, "expected hidden_act 'gelu' or 'gelu_new'"),
        ({"position_embedding_type": "relative_key"}, UnsupportedOperatorError, "position_embedding_type 'absolute'"),
        ({"is_decoder": True}, UnsupportedOperatorError, "expected is_decoder False, got True"),
        ({"hidden_size": 25}, ModelFormatError, "hidden_size as a multiple of num_attention_heads, got 25 and 4"),
        ({"vocab_size": "32"}, ModelFormatError, "expected vocab_size as an integer"),
        ({"layer_norm_eps": 0}, ModelFormatError, "expected layer_norm_eps as a number above 0"),
        ({"model_type": "roberta", "pad_token_id": -1}, ModelFormatError, "pad_token_id as an integer of at least 0"),
        ({"model_type": "roberta", "pad_token_id": 63}, ModelFormatError, "max_position_embeddings above 64, got 64"),
        ({"model_type": "distilbert"}, ModelFormatError, "expected dim as an integer"),
    ],
)
def test_configurations_that_cannot_be_are_refused(
    entries: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        random_config(**entries)
