"""An encoder of the kind of BERT as a PNNX graph, from a configuration and weights.

    tokens (b, s) -> embeddings -> norm -> layers -> vectors (b, s, width)

    a layer   x = norm(x + attention(x)), then x = norm(x + feed-forward(x))
    its tokens see the whole text: kuiper.BidirectionalAttention

Names of weights are those of Hugging Face's checkpoints. No PyTorch and no exporter is needed.

Sources: J. Devlin et al., "BERT", 2019; Y. Liu et al., "RoBERTa", 2019; V. Sanh et al., "DistilBERT", 2019;
``modeling_bert``, ``modeling_roberta`` and ``modeling_distilbert`` of Hugging Face's transformers say how the weights
are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.graph.pnnx import DataType
from kuiper.models.text.checkpoint_graph import CheckpointGraph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.graph import pnnx
    from kuiper.graph.pnnx import Operand
    from kuiper.models.text.encoder_config import EncoderConfig


class Names(NamedTuple):
    """What the parts of a layer are called, behind the layer's own name."""

    layer: str
    query: str
    key: str
    value: str
    mixed: str
    """The product behind attention."""
    norm_1: str
    up: str
    down: str
    """The products of the feed-forward block."""
    norm_2: str


_SELF, _OUT = "attention.self.", "attention.output."
_BERT = Names(
    "encoder.layer.", f"{_SELF}query", f"{_SELF}key", f"{_SELF}value", f"{_OUT}dense", f"{_OUT}LayerNorm",
    "intermediate.dense", "output.dense", "output.LayerNorm",
)  # fmt: skip
_DISTILBERT = Names(
    "transformer.layer.", "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
    "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
)  # fmt: skip

_PREFIXES = {"xlm-roberta": "roberta."}
_ACTIVATIONS = {
    "gelu": ("F.gelu", {"approximate": "none"}), "gelu_new": ("F.gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("F.gelu", {"approximate": "tanh"}), "relu": ("F.relu", {}),
}  # fmt: skip


def names_of(family: str) -> Names:
    """The names of a family's layers.

    >>> names_of("distilbert").up
    'ffn.lin1'
    """
    return _DISTILBERT if family == "distilbert" else _BERT


def encoder_graph(config: EncoderConfig, weights: Mapping[str, np.ndarray], where: str = "encoder") -> pnnx.Graph:
    """The graph of an encoder: tokens (b, s) of int64 to vectors (b, s, width) of float32.

    Parameters
    ----------
    config : its sizes
    weights : its weights, float32, by the names of Hugging Face's checkpoints
    where : what messages call the checkpoint

    Returns
    -------
    A graph for ``RuntimeGraph``, or for ``pnnx.save``.

    Raises
    ------
    ModelFormatError
        If a weight is missing or has another shape than the configuration says.

    Examples
    --------
    >>> from kuiper.models.text.random_encoder import random_config, random_weights
    >>> config = random_config()
    >>> graph = encoder_graph(config, random_weights(config, seed=1))
    >>> sum(op.type == "kuiper.BidirectionalAttention" for op in graph.operators)
    2
    """
    return _Encoder(config, weights, where).graph()


class _Encoder(CheckpointGraph):
    def __init__(self, config: EncoderConfig, weights: Mapping[str, np.ndarray], where: str) -> None:
        super().__init__(weights, where, _PREFIXES.get(config.family, f"{config.family}."))
        self.config, self.names = config, names_of(config.family)

    def graph(self) -> pnnx.Graph:
        config, names = self.config, self.names
        x = self.embedded()
        for index in range(config.layers):
            layer = f"{names.layer}{index}."
            x = self.normed_sum(f"{layer}{names.norm_1}", x, self.mixed(layer, x))
            x = self.normed_sum(f"{layer}{names.norm_2}", x, self.fed(layer, x))
        self.writer.finish(x)
        return self.writer.graph

    def embedded(self) -> Operand:
        """The vectors of the tokens and of their positions. Every text has the first type: it is in the positions."""
        config = self.config
        tokens = self.writer.add("pnnx.Input", "tokens", shape=(None, None), dtype=DataType.I64)
        positions = self.writer.add("kuiper.Positions", "positions", tokens, shape=(None,), dtype=DataType.I64)
        words = self.weight("embeddings.word_embeddings.weight", config.vocabulary, config.width)
        table = self.weight("embeddings.position_embeddings.weight", config.table, config.width)[config.first :]
        if config.types:
            types = self.weight("embeddings.token_type_embeddings.weight", config.types, config.width)
            table = table + types[0]
        x = self.looked_up("embeddings.word_embeddings", tokens, words, self.rows(config.width))
        y = self.looked_up("embeddings.position_embeddings", positions, table, (None, config.width))
        return self.normed_sum("embeddings.LayerNorm", x, y)

    def looked_up(self, name: str, index: Operand, table: np.ndarray, shape: tuple[int | None, ...]) -> Operand:
        """Rows of a table."""
        params = {"embedding_dim": table.shape[1], "num_embeddings": table.shape[0]}
        return self.writer.add("nn.Embedding", name, index, shape=shape, params=params, attrs={"weight": table})

    def normed_sum(self, name: str, x: Operand, y: Operand) -> Operand:
        """The layer norm of this name, of a sum."""
        total = self.expression(f"{name}.sum", "add(@0,@1)", x, y)
        return self.layer_norm(name, total, self.config.width, self.config.eps)

    def projected(self, name: str, x: Operand, in_features: int, out_features: int) -> Operand:
        """The linear layer of this name."""
        weight = self.weight(f"{name}.weight", out_features, in_features)
        return self.linear(name, x, weight, self.weight(f"{name}.bias", out_features))

    def mixed(self, layer: str, x: Operand) -> Operand:
        """Attention. Queries, keys and values are one product: a short text would wait for three."""
        width, heads, name = self.config.width, self.config.heads, f"{layer}attention"
        names = [f"{layer}{part}" for part in (self.names.query, self.names.key, self.names.value)]
        weight = np.concatenate([self.weight(f"{part}.weight", width, width) for part in names])
        bias = np.concatenate([self.weight(f"{part}.bias", width) for part in names])
        together = self.linear(f"{name}.qkv", x, weight, bias)
        params = {"chunks": 3, "dim": 2}
        self.writer.add("torch.chunk", f"{name}.parts", together, shape=self.rows(width), outputs=3, params=params)
        q, k, v = (
            self.heads(part, operand, heads, width // heads)
            for part, operand in zip(names, self.writer.graph.operands[-3:], strict=True)
        )
        mixed = self.writer.add("kuiper.BidirectionalAttention", name, q, k, v, shape=q.shape)
        return self.projected(
            f"{layer}{self.names.mixed}", self.joined(name, mixed, heads, width // heads), width, width
        )

    def fed(self, layer: str, x: Operand) -> Operand:
        """The feed-forward block."""
        width, inner = self.config.width, self.config.inner
        x = self.projected(f"{layer}{self.names.up}", x, width, inner)
        kind, params = _ACTIVATIONS[self.config.activation]
        x = self.writer.add(kind, f"{layer}activation", x, shape=x.shape, params=params)
        return self.projected(f"{layer}{self.names.down}", x, inner, width)
