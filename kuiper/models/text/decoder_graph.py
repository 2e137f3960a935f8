"""A decoder-only transformer as a PNNX graph with state, from a configuration and weights.

    tokens (b, s) -> embedding -> layers -> norm -> product with the vocabulary -> logits (b, s, vocabulary)

    a layer   x + attention(norm(x)), then x + feed-forward(norm(x))
    its keys and values go through kuiper.Cache, and the positions of the tokens come from kuiper.Positions:
    so a session computes each token once, however long the text becomes

Names of weights are those of Hugging Face's checkpoints. No PyTorch and no exporter is needed.

Sources: H. Touvron et al., "LLaMA", 2023; A. Radford et al., "Language Models are Unsupervised Multitask Learners",
2019; ``modeling_llama`` and ``modeling_gpt2`` of Hugging Face's transformers say how the weights are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.graph.pnnx import DataType
from kuiper.models.text.checkpoint_graph import CheckpointGraph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.graph import pnnx
    from kuiper.graph.pnnx import Operand
    from kuiper.models.text.decoder_config import DecoderConfig


def decoder_graph(config: DecoderConfig, weights: Mapping[str, np.ndarray], where: str = "decoder") -> pnnx.Graph:
    """The graph of a decoder: tokens (b, s) of int64 to logits (b, s, vocabulary) of float32.

    Parameters
    ----------
    config : its sizes
    weights : its weights, float32 or float16, by the names of Hugging Face's checkpoints
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
    >>> from kuiper.models.text.random_decoder import random_config, random_weights
    >>> config = random_config()
    >>> graph = decoder_graph(config, random_weights(config, seed=1))
    >>> sum(op.type == "kuiper.Cache" for op in graph.operators)
    4
    """
    builder = _Gpt2 if config.family == "gpt2" else _Llama
    return builder(config, weights, where).graph()


class _Decoder(CheckpointGraph):
    """What both kinds share."""

    embedding: str
    prefix_of_part = ""

    def __init__(self, config: DecoderConfig, weights: Mapping[str, np.ndarray], where: str) -> None:
        super().__init__(weights, where, self.prefix_of_part)
        self.config = config
        self.positions: Operand

    def table(self, name: str, data: np.ndarray) -> Operand:
        """A table of vectors that is stored once for all readers."""
        kind = DataType.F32 if data.dtype == np.float32 else DataType.F16
        table = self.writer.add("pnnx.Attribute", name, shape=data.shape, dtype=kind, attrs={"data": data})
        if kind is DataType.F32:
            return table
        params = {"copy": False, "dtype": "torch.float"}
        return self.writer.add("Tensor.to", f"{name}.float", table, shape=data.shape, params=params)

    def attention(self, name: str, q: Operand, k: Operand, v: Operand) -> Operand:
        """Heads attend to all that the session has seen; (b, s, heads * head_width) comes out."""
        k = self.writer.add("kuiper.Cache", f"{name}.keys", k, shape=k.shape)
        v = self.writer.add("kuiper.Cache", f"{name}.values", v, shape=v.shape)
        mixed = self.writer.add("kuiper.CausalAttention", name, q, k, v, shape=q.shape)
        return self.joined(name, mixed, self.config.heads, self.config.head_width)

    def begin(self) -> Operand:
        """The vectors of the tokens."""
        config = self.config
        tokens = self.writer.add("pnnx.Input", "tokens", shape=(None, None), dtype=DataType.I64)
        self.positions = self.writer.add("kuiper.Positions", "positions", tokens, shape=(None,), dtype=DataType.I64)
        self.vectors = self.table("embedding.table", self.weight(self.embedding, config.vocabulary, config.width))
        return self.writer.add("F.embedding", "embedding", tokens, self.vectors, shape=self.rows(config.width))

    def end(self, x: Operand) -> pnnx.Graph:
        """The product with the vocabulary, and the whole graph."""
        config = self.config
        if config.tied:
            logits = self.writer.add("F.linear", "head", x, self.vectors, shape=self.rows(config.vocabulary))
        else:
            logits = self.linear("head", x, self.weight("lm_head.weight", config.vocabulary, config.width), None)
        self.writer.finish(logits)
        return self.writer.graph


class _Llama(_Decoder):
    """Llama, Mistral, Qwen2 and Qwen3: RMS norms, rotary embedding, SwiGLU."""

    embedding = "model.embed_tokens.weight"

    def graph(self) -> pnnx.Graph:
        config = self.config
        x = self.begin()
        attrs = {"frequencies": config.frequencies}
        params = {"scale": config.rotary_scale}
        self.cosines = self.writer.add(
            "kuiper.RotaryAngles", "angles", self.positions, shape=(None, len(config.frequencies)), outputs=2,
            params=params, attrs=attrs,
        )  # fmt: skip
        self.sines = self.writer.graph.operands[-1]
        for index in range(config.layers):
            prefix = f"model.layers.{index}"
            x = self.added(f"{prefix}.sum_1", x, self.mixed(prefix, self.norm(f"{prefix}.input_layernorm", x)))
            x = self.added(f"{prefix}.sum_2", x, self.fed(prefix, self.norm(f"{prefix}.post_attention_layernorm", x)))
        return self.end(self.norm("model.norm", x))

    def added(self, name: str, x: Operand, y: Operand) -> Operand:
        return self.expression(name, "add(@0,@1)", x, y)

    def norm(self, name: str, x: Operand, width: int = 0) -> Operand:
        """An RMS norm over the last axis."""
        width = width or self.config.width
        params = {"elementwise_affine": True, "eps": self.config.eps, "normalized_shape": [width]}
        attrs = {"weight": self.weight(f"{name}.weight", width)}
        return self.writer.add("nn.RMSNorm", name, x, shape=x.shape, params=params, attrs=attrs)

    def projected(self, name: str, x: Operand, in_features: int, out_features: int) -> Operand:
        """A linear layer; it has a bias if the checkpoint has one."""
        weight = self.weight(f"{name}.weight", out_features, in_features)
        bias = self.weight(f"{name}.bias", out_features) if f"{name}.bias" in self.weights else None
        return self.linear(name, x, weight, bias)

    def mixed(self, prefix: str, x: Operand) -> Operand:
        """Attention."""
        config, name = self.config, f"{prefix}.self_attn"
        counts = {"q": config.heads, "k": config.groups, "v": config.groups}
        q, k, v = (self.in_heads(f"{name}.{which}", x, count) for which, count in counts.items())
        q, k = (
            self.writer.add("kuiper.Rotary", f"{name}.{which}_rotary", y, self.cosines, self.sines, shape=y.shape)
            for which, y in (("q", q), ("k", k))
        )
        mixed = self.attention(name, q, k, v)
        return self.projected(f"{name}.o_proj", mixed, config.heads * config.head_width, config.width)

    def in_heads(self, name: str, x: Operand, count: int) -> Operand:
        """Queries, keys or values, (b, count, s, head_width); Qwen3 has a norm for queries and keys."""
        config = self.config
        projected = self.projected(f"{name}_proj", x, config.width, count * config.head_width)
        heads = self.heads(f"{name}_proj", projected, count, config.head_width)
        has_norm = config.family == "qwen3" and not name.endswith(".v")
        return self.norm(f"{name}_norm", heads, config.head_width) if has_norm else heads

    def fed(self, prefix: str, x: Operand) -> Operand:
        """The feed-forward block: down(silu(gate(x)) * up(x))."""
        width, inner, name = self.config.width, self.config.inner, f"{prefix}.mlp"
        gate = self.projected(f"{name}.gate_proj", x, width, inner)
        gate = self.writer.add("F.silu", f"{name}.silu", gate, shape=gate.shape)
        up = self.projected(f"{name}.up_proj", x, width, inner)
        product = self.expression(f"{name}.product", "mul(@0,@1)", gate, up)
        return self.projected(f"{name}.down_proj", product, inner, width)


class _Gpt2(_Decoder):
    """GPT-2: layer norms, learned positions, GELU. Its checkpoints hold the weights of linear layers transposed."""

    embedding = "wte.weight"
    prefix_of_part = "transformer."

    def graph(self) -> pnnx.Graph:
        config = self.config
        x = self.begin()
        table = self.table("positions.table", self.weight("wpe.weight", config.positions, config.width))
        shape = (None, config.width)
        places = self.writer.add("F.embedding", "positions.embedding", self.positions, table, shape=shape)
        x = self.expression("embedding.sum", "add(@0,@1)", x, places)
        for index in range(config.layers):
            name = f"h.{index}"
            x = self.expression(f"{name}.sum_1", "add(@0,@1)", x, self.mixed(name, self.norm(f"{name}.ln_1", x)))
            x = self.expression(f"{name}.sum_2", "add(@0,@1)", x, self.fed(name, self.norm(f"{name}.ln_2", x)))
        return self.end(self.norm("ln_f", x))

    def norm(self, name: str, x: Operand) -> Operand:
        """A layer norm over the last axis."""
        return self.layer_norm(name, x, self.config.width, self.config.eps)

    def mixed(self, name: str, x: Operand) -> Operand:
        """Attention; queries, keys and values are thirds of one matrix."""
        config = self.config
        weight = self.weight(f"{name}.attn.c_attn.weight", config.width, 3 * config.width)
        bias = self.weight(f"{name}.attn.c_attn.bias", 3 * config.width)
        parts = zip("qkv", np.split(weight, 3, axis=1), np.split(bias, 3), strict=True)
        q, k, v = (self.third(f"{name}.attn.{which}", x, part, added) for which, part, added in parts)
        mixed = self.attention(f"{name}.attn", q, k, v)
        return self.projected(f"{name}.attn.c_proj", mixed, config.width, config.width)

    def third(self, name: str, x: Operand, weight: np.ndarray, bias: np.ndarray) -> Operand:
        """Queries, keys or values, (b, heads, s, head_width)."""
        x = self.linear(name, x, _turned(weight), bias)
        return self.heads(name, x, self.config.heads, self.config.head_width)

    def projected(self, name: str, x: Operand, in_features: int, out_features: int) -> Operand:
        """A linear layer."""
        weight = self.weight(f"{name}.weight", in_features, out_features)
        return self.linear(name, x, _turned(weight), self.weight(f"{name}.bias", out_features))

    def fed(self, name: str, x: Operand) -> Operand:
        """The feed-forward block."""
        width, inner = self.config.width, self.config.inner
        x = self.projected(f"{name}.mlp.c_fc", x, width, inner)
        x = self.writer.add("F.gelu", f"{name}.mlp.gelu", x, shape=x.shape, params={"approximate": "tanh"})
        return self.projected(f"{name}.mlp.c_proj", x, inner, width)


def _turned(weight: np.ndarray) -> np.ndarray:
    """(in, out) -> (out, in)."""
    return np.ascontiguousarray(weight.T)
