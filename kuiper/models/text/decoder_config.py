"""What a ``config.json`` of Hugging Face's says of a decoder that kuiper can write as a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.models.text.config_reader import ConfigReader
from kuiper.models.text.encoder_config import is_encoder

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gpt2")
"""The ``model_type`` of configurations that are understood."""


@dataclass(frozen=True)
class DecoderConfig:
    """The sizes of a decoder-only transformer.

    Attributes
    ----------
    family : one of ``FAMILIES``
    vocabulary : how many tokens there are
    width : numbers of a token on its way through the layers
    inner : numbers between the two products of a feed-forward block
    layers, heads, groups : how many; ``heads / groups`` heads share keys and values
    head_width : numbers of a head
    eps : what the norms add to the variance
    frequencies : of the rotary embedding, (head_width / 2,)
    rotary_scale : what its cosines and sines are multiplied by
    positions : the longest text that it was made for
    tied : whether the last product has the weights of the embedding
    """

    family: str
    vocabulary: int
    width: int
    inner: int
    layers: int
    heads: int
    groups: int
    head_width: int
    eps: float
    frequencies: np.ndarray
    rotary_scale: float
    positions: int
    tied: bool


def read_config(config: Mapping[str, Any], where: str = "config.json") -> DecoderConfig:
    """The sizes that a configuration gives.

    Parameters
    ----------
    config : the contents of a ``config.json``
    where : what messages call it

    Returns
    -------
    The sizes, checked: each is an integer that can be, and they fit together.

    Raises
    ------
    UnsupportedOperatorError
        If it is of another family, or asks for what kuiper lacks (a sliding window, another activation, YaRN).
    ModelFormatError
        If a size is missing, is no number, or does not fit.

    Examples
    --------
    >>> config = {"model_type": "gpt2", "vocab_size": 100, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
    >>> read_config(config).head_width
    8
    """
    family = config.get("model_type")
    if family not in FAMILIES:
        hint = "kuiper embed and kuiper serve take encoders" if is_encoder(config) else ""
        raise UnsupportedOperatorError(where, f"a model_type of {', '.join(FAMILIES)}", repr(family), hint)
    reader = ConfigReader(config, where)
    return _gpt2(reader) if family == "gpt2" else _llama(family, reader)


def _gpt2(reader: ConfigReader) -> DecoderConfig:
    reader.choice("activation_function", ("gelu_new", "gelu_pytorch_tanh"))
    reader.choice("scale_attn_by_inverse_layer_idx", (False,))
    reader.choice("add_cross_attention", (False,))
    reader.choice("scale_attn_weights", (True,))
    width, heads = reader.parts("n_embd", "n_head")
    return DecoderConfig(
        family="gpt2",
        vocabulary=reader.size("vocab_size"),
        width=width,
        inner=reader.size("n_inner", 4 * width),
        layers=reader.size("n_layer"),
        heads=heads,
        groups=heads,
        head_width=width // heads,
        eps=reader.number("layer_norm_epsilon", 1e-5),
        frequencies=np.zeros(0, np.float32),
        rotary_scale=1.0,
        positions=reader.size("n_positions"),
        tied=bool(reader.config.get("tie_word_embeddings", True)),
    )


def _llama(family: str, reader: ConfigReader) -> DecoderConfig:
    reader.choice("hidden_act", ("silu",))
    reader.choice("use_sliding_window" if family != "mistral" else "sliding_window", (False, None))
    width, heads = reader.size("hidden_size"), reader.size("num_attention_heads")
    groups = reader.size("num_key_value_heads", heads)
    if heads % groups:
        got = f"{heads} and {groups}"
        raise ModelFormatError(reader.where, "num_attention_heads as a multiple of num_key_value_heads", got)
    head_width = reader.size("head_dim", max(1, width // heads))
    return DecoderConfig(
        family=family,
        vocabulary=reader.size("vocab_size"),
        width=width,
        inner=reader.size("intermediate_size"),
        layers=reader.size("num_hidden_layers"),
        heads=heads,
        groups=groups,
        head_width=head_width,
        eps=reader.number("rms_norm_eps", 1e-6),
        frequencies=_frequencies(reader, head_width),
        rotary_scale=1.0,
        positions=reader.size("max_position_embeddings"),
        tied=bool(reader.config.get("tie_word_embeddings", False)),
    )


def _frequencies(reader: ConfigReader, head_width: int) -> np.ndarray:
    """theta**(-i / r) for i in 0 .. r - 1, r half of a head; Llama 3 stretches the slow ones."""
    scaling = reader.config.get("rope_parameters") or reader.config.get("rope_scaling") or {}
    if not isinstance(scaling, dict):
        raise ModelFormatError(reader.where, "rope_scaling as an object", type(scaling).__name__)
    inner = ConfigReader({**reader.config, **scaling}, reader.where)
    half = head_width // 2
    frequencies = 1 / inner.number("rope_theta", 10000.0) ** (np.arange(half, dtype=np.float32) / np.float32(half))
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "linear":
        frequencies = frequencies / inner.number("factor", 1.0)
    elif kind == "llama3":
        frequencies = _stretched(frequencies, inner)
    elif kind != "default":
        raise UnsupportedOperatorError(reader.where, "rope_type default, linear or llama3", repr(kind))
    return np.asarray(frequencies, np.float32)


def _stretched(frequencies: np.ndarray, reader: ConfigReader) -> np.ndarray:
    """The frequencies of Llama 3.1: waves longer than the old context are slowed by ``factor``, short ones kept.

    Source: ``_compute_llama3_parameters`` of Hugging Face's transformers says what the four settings mean.
    """
    factor, old = reader.number("factor", 8.0), reader.number("original_max_position_embeddings", 8192)
    low, high = reader.number("low_freq_factor", 1.0), reader.number("high_freq_factor", 4.0)
    turns = old * frequencies / (2 * np.pi)  # within the old context
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return np.asarray((1 - kept) * frequencies / factor + kept * frequencies)
