"""What a ``config.json`` of Hugging Face's says of an encoder that kuiper can write as a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.models.text.config_reader import ConfigReader

if TYPE_CHECKING:
    from collections.abc import Mapping

ENCODERS = ("bert", "roberta", "xlm-roberta", "distilbert")
"""The ``model_type`` of configurations that are understood."""

_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")


@dataclass(frozen=True)
class EncoderConfig:
    """The sizes of a transformer whose tokens see the whole text.

    Attributes
    ----------
    family : one of ``ENCODERS``
    vocabulary : how many tokens there are
    width : numbers of a token on its way through the layers
    inner : numbers between the two products of a feed-forward block
    layers, heads : how many
    eps : what the norms add to the variance
    activation : between the two products: gelu, gelu_new or relu
    table : rows of the table of positions
    first : which of them belongs to the first token of a text
    types : rows of the table of types of tokens, of which texts have the first one; 0: there is no such table
    """

    family: str
    vocabulary: int
    width: int
    inner: int
    layers: int
    heads: int
    eps: float
    activation: str
    table: int
    first: int
    types: int

    @property
    def positions(self) -> int:
        """The longest text that it can read."""
        return self.table - self.first


def is_encoder(config: Mapping[str, Any]) -> bool:
    """Whether a configuration is of a family of encoders.

    >>> is_encoder({"model_type": "bert"}), is_encoder({"model_type": "llama"})
    (True, False)
    """
    return config.get("model_type") in ENCODERS


def read_config(config: Mapping[str, Any], where: str = "config.json") -> EncoderConfig:
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
        If it is of another family, or asks for what kuiper lacks (relative positions, another activation).
    ModelFormatError
        If a size is missing, is no number, or does not fit.

    Examples
    --------
    >>> config = {"model_type": "distilbert", "vocab_size": 100, "dim": 32, "hidden_dim": 64, "n_layers": 2}
    >>> read_config({**config, "n_heads": 4, "max_position_embeddings": 512}).positions
    512
    """
    family = config.get("model_type")
    if family not in ENCODERS:
        raise UnsupportedOperatorError(where, f"a model_type of {', '.join(ENCODERS)}", repr(family))
    reader = ConfigReader(config, where)
    return _distilbert(reader) if family == "distilbert" else _bert(family, reader)


def _bert(family: str, reader: ConfigReader) -> EncoderConfig:
    reader.choice("position_embedding_type", ("absolute",))
    reader.choice("is_decoder", (False,))
    width, heads = reader.parts("hidden_size", "num_attention_heads")
    table, first = reader.size("max_position_embeddings"), 0 if family == "bert" else _behind_padding(reader)
    if first >= table:
        raise ModelFormatError(reader.where, f"max_position_embeddings above {first}", table)
    return EncoderConfig(
        family=family,
        vocabulary=reader.size("vocab_size"),
        width=width,
        inner=reader.size("intermediate_size"),
        layers=reader.size("num_hidden_layers"),
        heads=heads,
        eps=reader.number("layer_norm_eps", 1e-12),
        activation=reader.choice("hidden_act", _ACTIVATIONS),
        table=table,
        first=first,
        types=reader.size("type_vocab_size", 2),
    )


def _distilbert(reader: ConfigReader) -> EncoderConfig:
    width, heads = reader.parts("dim", "n_heads")
    return EncoderConfig(
        family="distilbert",
        vocabulary=reader.size("vocab_size"),
        width=width,
        inner=reader.size("hidden_dim"),
        layers=reader.size("n_layers"),
        heads=heads,
        eps=1e-12,  # which is not in the configuration
        activation=reader.choice("activation", _ACTIVATIONS),
        table=reader.size("max_position_embeddings"),
        first=0,
        types=0,
    )


def _behind_padding(reader: ConfigReader) -> int:
    """RoBERTa counts positions from behind the token that pads texts."""
    padding = reader.config.get("pad_token_id", 1)
    if type(padding) is not int or padding < 0:
        raise ModelFormatError(reader.where, "pad_token_id as an integer of at least 0", repr(padding))
    return padding + 1
