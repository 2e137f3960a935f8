"""Tiny encoders with random weights, to try things on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.models.text.encoder_config import EncoderConfig, read_config
from kuiper.models.text.encoder_graph import encoder_graph, names_of

if TYPE_CHECKING:
    from kuiper.graph import pnnx


def random_config(**entries: object) -> EncoderConfig:
    """A BERT of 2 layers of width 24, 4 heads, and 32 tokens, but for these entries.

    >>> random_config(num_hidden_layers=3).layers
    3
    """
    sizes = {
        "model_type": "bert", "vocab_size": 32, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 64, "type_vocab_size": 2,
    }  # fmt: skip
    return read_config({**sizes, **entries})


def random_weights(config: EncoderConfig, seed: int) -> dict[str, np.ndarray]:
    """Weights for an encoder, by the names of Hugging Face's checkpoints.

    A matrix (out, in) has a variance of 1 / in, norms are ones, and biases are small.

    >>> random_weights(random_config(), seed=1)["encoder.layer.1.intermediate.dense.weight"].shape
    (40, 24)
    """
    rng = np.random.default_rng(seed)
    return {name: _drawn(rng, name, shape) for name, shape in _shapes(config).items()}


def random_encoder(seed: int, **entries: object) -> pnnx.Graph:
    """The graph of such an encoder.

    >>> random_encoder(seed=1).operators[-1].type
    'pnnx.Output'
    """
    config = random_config(**entries)
    return encoder_graph(config, random_weights(config, seed))


def _drawn(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    drawn = rng.standard_normal(shape, dtype=np.float32)
    if len(shape) == 1:
        return np.asarray(drawn / np.float32(10) + np.float32(_is_scale(name)))
    return np.asarray(drawn / np.float32(1 if "embeddings" in name else np.sqrt(shape[1])))


def _is_scale(name: str) -> bool:
    """Whether it is the weight of a norm."""
    return name.lower().endswith(("layernorm.weight", "layer_norm.weight"))


def _shapes(config: EncoderConfig) -> dict[str, tuple[int, ...]]:
    """The weights by name."""
    width, inner, names = config.width, config.inner, names_of(config.family)
    tables = {"word": config.vocabulary, "position": config.table, "token_type": config.types}
    shapes: dict[str, tuple[int, ...]] = {
        f"embeddings.{name}_embeddings.weight": (size, width) for name, size in tables.items() if size
    }
    parts = {
        names.query: (width, width), names.key: (width, width), names.value: (width, width),
        names.mixed: (width, width), names.up: (inner, width), names.down: (width, inner),
        names.norm_1: (width,), names.norm_2: (width,),
    }  # fmt: skip
    layers = {f"{names.layer}{i}.{part}": shape for i in range(config.layers) for part, shape in parts.items()}
    for name, shape in {"embeddings.LayerNorm": (width,), **layers}.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes
