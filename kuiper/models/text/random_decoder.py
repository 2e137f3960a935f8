"""Tiny decoders with random weights, to try things on: sessions, tokenizers, speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.models.text.decoder_config import DecoderConfig, read_config
from kuiper.models.text.decoder_graph import decoder_graph

if TYPE_CHECKING:
    from kuiper.graph import pnnx


def random_config(**entries: object) -> DecoderConfig:
    """A Llama of 2 layers of width 24, 4 heads of which pairs share keys, and 32 tokens, but for these entries.

    >>> random_config(num_hidden_layers=3).layers
    3
    """
    sizes = {
        "model_type": "llama", "vocab_size": 32, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "max_position_embeddings": 64,
        "tie_word_embeddings": True,
    }  # fmt: skip
    return read_config({**sizes, **entries})


def random_weights(config: DecoderConfig, seed: int) -> dict[str, np.ndarray]:
    """Weights for a decoder of the Llama family, by the names of Hugging Face's checkpoints.

    They are drawn so that numbers keep their size from layer to layer: norms are ones, a matrix (out, in) has a
    variance of 1 / in.

    >>> random_weights(random_config(), seed=1)["model.layers.1.self_attn.k_proj.weight"].shape
    (12, 24)
    """
    rng = np.random.default_rng(seed)
    return {name: _drawn(rng, shape) for name, shape in _shapes(config).items()}


def random_decoder(seed: int, **entries: object) -> pnnx.Graph:
    """The graph of such a decoder.

    >>> random_decoder(seed=1).operators[-1].type
    'pnnx.Output'
    """
    config = random_config(**entries)
    return decoder_graph(config, random_weights(config, seed))


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) == 1:
        return np.ones(shape, np.float32)
    return np.asarray(rng.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(shape[1])))


def _shapes(config: DecoderConfig) -> dict[str, tuple[int, ...]]:
    """The weights of a Llama, by name."""
    width, queries, keys = config.width, config.heads * config.head_width, config.groups * config.head_width
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (config.vocabulary, width)}
    for index in range(config.layers):
        layer = {
            "input_layernorm": (width,), "self_attn.q_proj": (queries, width), "self_attn.k_proj": (keys, width),
            "self_attn.v_proj": (keys, width), "self_attn.o_proj": (width, queries),
            "post_attention_layernorm": (width,), "mlp.gate_proj": (config.inner, width),
            "mlp.up_proj": (config.inner, width), "mlp.down_proj": (width, config.inner),
        }  # fmt: skip
        shapes.update({f"model.layers.{index}.{name}.weight": shape for name, shape in layer.items()})
    shapes["model.norm.weight"] = (width,)
    return shapes if config.tied else {**shapes, "lm_head.weight": (config.vocabulary, width)}
