"""Decoders written as graphs: their logits are those of Hugging Face's transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.graph.quantized_weight import quantize
from kuiper.layers import registry
from kuiper.models.quantization import quantize_graph
from kuiper.models.text.decoder_config import read_config
from kuiper.models.text.decoder_graph import decoder_graph
from kuiper.models.text.random_decoder import random_config, random_weights
from tests.fixtures.export_decoders import CONFIGURATIONS, FOLDER, logits, original, weights_of

if TYPE_CHECKING:
    from pathlib import Path


def largest_difference(got: Any, expected: np.ndarray) -> float:
    return float(np.abs(np.asarray(got) - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("optimize", [True, False], ids=["engine", "layers"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_decoders_give_the_logits_of_transformers(name: str, optimize: bool) -> None:
    stored = np.load(FOLDER / f"{name}.npz")
    tokens, expected = stored["input_0"], stored["output_0"][0]
    model = kuiper.load(FOLDER / f"{name}.pnnx.param", optimize=optimize)
    assert largest_difference(model(tokens)[0], expected) < 1e-5
    session = model.start(max_length=40)
    pieces = [session(tokens[0, :20]), *(session(token) for token in tokens[0, 20:, None])]
    assert largest_difference(np.concatenate([np.asarray(piece) for piece in pieces]), expected) < 1e-5


@pytest.mark.torch
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_two_hundred_positions_agree_with_transformers_and_so_does_greedy_text(name: str) -> None:
    import torch

    module: Any = original(CONFIGURATIONS[name], seed=3)
    config = read_config(module.config.to_dict())
    model = RuntimeGraph(decoder_graph(config, weights_of(module)))
    model.build(registry, True, None, Engine)
    tokens = np.random.default_rng(2).integers(0, config.vocabulary, 200)
    session = model.start(max_length=200)
    got = np.concatenate([np.asarray(session(tokens[:37])), *(np.asarray(session([t])) for t in tokens[37:])])
    assert largest_difference(got, logits(module, tokens[None])[0]) < 1e-5

    session, text = model.start(max_length=80), []
    answer = np.asarray(session(tokens[:16]))[-1]
    for _ in range(60):
        text.append(int(answer.argmax()))
        answer = np.asarray(session(text[-1:]))[0]
    prompt = torch.from_numpy(tokens[None, :16])
    expected = module.generate(prompt, max_new_tokens=60, min_new_tokens=60, do_sample=False, pad_token_id=0)
    assert text == expected[0, 16:].tolist()


@pytest.mark.torch
@pytest.mark.parametrize(("bits", "group"), [(8, None), (8, 32), (4, None)])
def test_quantised_decoders_are_transformers_with_the_dequantised_weights(
    tmp_path: Path, bits: int, group: int | None
) -> None:
    import torch

    sizes = {"hidden_size": 64, "intermediate_size": 96, "head_dim": 16, "num_attention_heads": 4}
    module: Any = original({**CONFIGURATIONS["llama"], **sizes}, seed=3)
    config = read_config(module.config.to_dict())
    graph = decoder_graph(config, weights_of(module))
    quantize_graph(graph, bits, group)
    pnnx.save(graph, tmp_path / "m.pnnx.param")
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.ndim == 2:
                parameter.copy_(torch.from_numpy(quantize(parameter.numpy(), bits, group).dequantized()))
    tokens = np.random.default_rng(2).integers(0, config.vocabulary, (1, 40))
    expected = logits(module, tokens)
    for optimize in (True, False):
        model = kuiper.load(tmp_path / "m.pnnx.param", optimize=optimize)
        assert largest_difference(model(tokens), expected) < 1e-5


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_decoder_graphs_are_saved_and_read_back(tmp_path: Path, dtype: type) -> None:
    config = random_config()
    weights = {name: data.astype(dtype) for name, data in random_weights(config, seed=1).items()}
    graph = decoder_graph(config, weights)
    pnnx.save(graph, tmp_path / "tiny.pnnx.param")
    tokens = np.array([[1, 5, 9, 30]])
    for optimize in (True, False):
        model = RuntimeGraph(graph)
        model.build(registry, optimize, None, Engine if optimize else None)
        read = kuiper.load(tmp_path / "tiny.pnnx.param", optimize=optimize)
        np.testing.assert_array_equal(np.asarray(read(tokens)), np.asarray(model(tokens)))
        assert np.asarray(read(tokens)).dtype == np.float32


def test_a_missing_weight_is_named() -> None:
    config = random_config()
    weights = random_weights(config, seed=1)
    del weights["model.layers.1.mlp.up_proj.weight"]
    with pytest.raises(ModelFormatError, match=r"a weight 'model.layers.1.mlp.up_proj.weight', got none of this name"):
        decoder_graph(config, weights, "folder")


def test_a_weight_of_another_shape_is_named() -> None:
    config = random_config()
    weights = {**random_weights(config, seed=1), "model.norm.weight": np.ones(3, np.float32)}
    with pytest.raises(ModelFormatError, match=r"folder: expected 'model.norm.weight' of shape \(24,\), got \(3,\)"):
        decoder_graph(config, weights, "folder")


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        ({"model_type": "mamba"}, UnsupportedOperatorError, "expected a model_type of llama, mistral"),
        ({"hidden_act": "gelu"}, UnsupportedOperatorError, "expected hidden_act 'silu', got 'gelu'"),
        ({"vocab_size": None}, ModelFormatError, "expected vocab_size as an integer"),
        ({"vocab_size": "32"}, ModelFormatError, "expected vocab_size as an integer"),
        ({"num_hidden_layers": True}, ModelFormatError, "expected num_hidden_layers as an integer"),
        ({"hidden_size": -4}, ModelFormatError, "expected hidden_size as an integer"),
        ({"hidden_size": 1 << 40}, ModelFormatError, "expected hidden_size as an integer"),
        ({"num_key_value_heads": 3}, ModelFormatError, "as a multiple of num_key_value_heads, got 4 and 3"),
        ({"rms_norm_eps": "small"}, ModelFormatError, "expected rms_norm_eps as a number above 0"),
        ({"rope_scaling": {"rope_type": "yarn"}}, UnsupportedOperatorError, "expected rope_type default, linear"),
        ({"rope_scaling": [1]}, ModelFormatError, "expected rope_scaling as an object"),
        ({"model_type": "mistral", "sliding_window": 4096}, UnsupportedOperatorError, "sliding_window"),
        ({"model_type": "qwen2", "use_sliding_window": True}, UnsupportedOperatorError, "use_sliding_window"),
        ({"model_type": ["llama"]}, UnsupportedOperatorError, "expected a model_type of"),
    ],
)
def test_configurations_that_cannot_be_are_refused(
    entries: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        random_config(**entries)
