"""The Llama of the zoo: its weights' names, and its scores beside those of an implementation without PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kuiper.models.zoo.architectures.llama import LlamaConfig, LlamaForCausalLM  # noqa: E402

pytestmark = pytest.mark.torch

SMALL = LlamaConfig(11, 12, 20, 2, 4, 2, 4, max_position_embeddings=16, rms_norm_eps=1e-4, rope_theta=50.0)
UNTIED = LlamaConfig(11, 12, 20, 2, 3, 1, 6, max_position_embeddings=16, tie_word_embeddings=False)

LAYER = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "input_layernorm",
    "post_attention_layernorm",
)


def expected(config: LlamaConfig, w: dict[str, Any], tokens: list[int]) -> Any:
    """The scores (t, vocabulary) of one text, one position and one head after the other."""

    def norm(x: Any, name: str) -> Any:
        return x / np.sqrt(np.mean(x**2) + config.rms_norm_eps) * w[f"{name}.weight"]

    def turned(x: Any, position: int) -> Any:
        half, out = config.head_dim // 2, x.copy()
        for i in range(half):
            angle = position / config.rope_theta ** (2 * i / config.head_dim)
            out[i] = x[i] * np.cos(angle) - x[i + half] * np.sin(angle)
            out[i + half] = x[i + half] * np.cos(angle) + x[i] * np.sin(angle)
        return out

    group = config.num_attention_heads // config.num_key_value_heads
    keys: dict[Any, list[Any]] = {}
    values: dict[Any, list[Any]] = {}
    scores = []
    for position, token in enumerate(tokens):
        x = w["model.embed_tokens.weight"][token]
        for layer in range(config.num_hidden_layers):
            name = f"model.layers.{layer}"
            h = norm(x, f"{name}.input_layernorm")
            q, k, v = (
                (w[f"{name}.self_attn.{part}_proj.weight"] @ h).reshape(-1, config.head_dim) for part in ("q", "k", "v")
            )
            mixed = []
            for head in range(len(k)):
                keys.setdefault((layer, head), []).append(turned(k[head], position))
                values.setdefault((layer, head), []).append(v[head])
            for head in range(len(q)):
                at = (layer, head // group)
                weights = np.exp(np.array(keys[at]) @ turned(q[head], position) / np.sqrt(config.head_dim))
                mixed.append(weights @ np.array(values[at]) / weights.sum())
            x = x + w[f"{name}.self_attn.o_proj.weight"] @ np.concatenate(mixed)
            h = norm(x, f"{name}.post_attention_layernorm")
            gate, up = w[f"{name}.mlp.gate_proj.weight"] @ h, w[f"{name}.mlp.up_proj.weight"] @ h
            x = x + w[f"{name}.mlp.down_proj.weight"] @ (gate / (1 + np.exp(-gate)) * up)
        matrix = w["model.embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"]
        scores.append(matrix @ norm(x, "model.norm"))
    return np.array(scores)


def seeded(config: LlamaConfig) -> Any:
    """A model whose normalisations have weights, too, that differ from 1."""
    torch.manual_seed(3)
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3 + (parameter.ndim == 1))
    return model


@pytest.mark.parametrize("config", [SMALL, UNTIED])
def test_llama_scores_as_the_definition_says(config: LlamaConfig) -> None:
    model = seeded(config)
    tokens = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    with torch.inference_mode():
        scores = model(torch.tensor([tokens, tokens[::-1]])).numpy()
    weights = {name: value.double().numpy() for name, value in model.state_dict().items()}
    np.testing.assert_allclose(scores[0], expected(config, weights, tokens), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(scores[1], expected(config, weights, tokens[::-1]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("config", [SMALL, UNTIED])
def test_llama_has_the_names_of_hugging_face(config: LlamaConfig) -> None:
    names = {"model.embed_tokens.weight", "model.norm.weight"}
    names |= {f"model.layers.{layer}.{part}.weight" for layer in range(2) for part in LAYER}
    names |= set() if config.tie_word_embeddings else {"lm_head.weight"}
    assert set(LlamaForCausalLM(config).state_dict()) == names


def test_dropout_acts_only_while_the_model_learns() -> None:
    torch.manual_seed(1)
    model, tokens = LlamaForCausalLM(SMALL, dropout=0.5), torch.tensor([[1, 2, 3]])
    assert not torch.equal(model(tokens), model(tokens))
    model.eval()
    assert torch.equal(model(tokens), model(tokens))
