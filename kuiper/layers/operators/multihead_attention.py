"""nn.MultiheadAttention: several attentions side by side, each on its own projection of the input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.gemm import matmul, pack_right
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.scaled_dot_product_attention import attention
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.MultiheadAttention")
class MultiheadAttention(Layer):
    """concat(head_1, ..., head_h) W_out + b_out, where head_i = attention(Q W_i, K W_i, V W_i).

    Query (n, l, e), key (n, s, kdim) and value (n, s, vdim) with ``batch_first``, else (l, n, e) ...; two axes mean no
    batch. One input stands for all three, two for query and for key and value. A second output is the weights,
    averaged over the heads. A mask of bools says which keys are hidden (the other way round than in
    scaled_dot_product_attention), one of floats is added.

    Source: torch.nn.MultiheadAttention; Vaswani et al., Attention Is All You Need, 2017, section 3.2.2.
    """

    data_inputs = ("input", "query", "key", "value", "attn_mask")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        for key in ("add_bias_kv", "add_zero_attn"):
            if op.bool_param(key, False):
                raise self.unsupported(f"{key}=False", True)
        self.heads = op.int_param("num_heads")
        self.batch_first = op.bool_param("batch_first", False)
        self.has_mask = "attn_mask" in op.input_names
        # at optlevel 0 both results are one tuple
        self.in_tuple = len(op.outputs) == 1 and any(
            consumer.type == "prim::TupleUnpack" for consumer in op.outputs[0].consumers
        )
        self.expect(1 <= len(op.inputs) - self.has_mask <= 3, "one to three inputs and a mask", len(op.inputs))
        width = op.int_param("embed_dim")
        if min(self.heads, width) < 1:
            raise ParameterError(op.where, "num_heads and embed_dim of at least 1", (self.heads, width))
        self.expect(width % self.heads == 0, f"embed_dim that {self.heads} heads can share", width)
        joined = "in_proj_weight" in op.attrs
        weights = np.split(self._weight("in_proj_weight", 3 * width), 3) if joined else self._separate_weights(width)
        bias = self._bias("in_proj_bias", 3 * width)
        self.projections = [(pack_right(w.T), b) for w, b in zip(weights, np.split(bias, 3), strict=True)]
        self.output_weight = pack_right(self._weight("out_proj.weight", width, width).T)
        self.output_bias = self._bias("out_proj.bias", width)

    def forward(self, *inputs: Array) -> Array | tuple[Array, Array]:
        mask = self._mask(inputs[-1]) if self.has_mask else None
        given = inputs[: len(inputs) - self.has_mask]
        query, key, value = (given[0], given[min(1, len(given) - 1)], given[-1])
        for x in (query, key, value):
            self.expect_rank(x, (2, 3), "(n, l, e)" if self.batch_first else "(l, n, e)")
        q, k, v = (self._heads(x, i) for i, x in enumerate((query, key, value)))
        if mask is not None and mask.ndim == 3:  # one for each image and head
            mask = mask.reshape(-1, self.heads, *mask.shape[1:])
        mixed = attention(q, k, v, mask, None, self.op.where)
        y = mixed.swapaxes(1, 2).reshape(-1, q.shape[1] * q.shape[3])
        y = (matmul(y, self.output_weight) + self.output_bias).reshape(q.shape[0], q.shape[2], -1)
        y = self._as_given(y, query)
        if len(self.op.outputs) == 1 and not self.in_tuple:
            return y
        seen = np.broadcast_to(np.eye(k.shape[2], dtype=np.float32), (*k.shape[:2], k.shape[2], k.shape[2]))
        weights = attention(q, k, seen, mask, None, self.op.where).mean(axis=1)
        return y, weights if query.ndim == 3 else weights[0]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        rows = [math.prod(shape[:-1]) for shape in inputs]
        batch = 1 if len(inputs[0]) == 2 else inputs[0][0 if self.batch_first else 1]
        width = outputs[0][-1]
        projected = sum(2 * math.prod(inputs[min(i, len(inputs) - 1)]) * width for i in range(3))
        mixed = rows[0] * (rows[min(1, len(rows) - 1)] // max(batch, 1)) * 4 * width
        return projected + mixed + 2 * rows[0] * width * width

    def _separate_weights(self, width: int) -> list[Array]:
        """Keys and values of other sizes than the query's come with a matrix each."""
        return [self._weight(f"{letter}_proj_weight", width) for letter in "qkv"]

    def _weight(self, key: str, rows: int, columns: int | None = None) -> Array:
        weight = self.op.attr(key)
        fits = weight.ndim == 2 and len(weight) == rows and columns in (None, weight.shape[1])
        self.expect(fits, f"{key} ({rows}, {'n' if columns is None else columns})", weight.shape)
        return weight

    def _bias(self, key: str, count: int) -> Array:
        """The bias of this name, zeros if there is none."""
        bias = self.op.attr(key) if key in self.op.attrs else np.zeros(count, np.float32)
        self.expect(bias.shape == (count,), f"{key} ({count},)", bias.shape)
        return bias

    def _heads(self, x: Array, which: int) -> Array:
        """The projection of query (0), key (1) or value (2), one axis for the heads: (n, heads, l, e / heads)."""
        weight, bias = self.projections[which]
        name = ("query", "key", "value")[which]
        self.expect(x.shape[-1] == weight.shape[0], f"{name} of {weight.shape[0]} numbers each", x.shape)
        batched = x[None] if x.ndim == 2 else x if self.batch_first else x.swapaxes(0, 1)
        n, length = batched.shape[:2]
        y: Array = matmul(np.ascontiguousarray(batched, np.float32).reshape(n * length, -1), weight) + bias
        heads: Array = y.reshape(n, length, self.heads, -1).swapaxes(1, 2)
        return heads

    def _as_given(self, y: Array, query: Array) -> Array:
        """(n, l, e) in the layout of the query."""
        if query.ndim == 2:
            y = y[0]
        elif not self.batch_first:
            y = y.swapaxes(0, 1)
        return y

    @staticmethod
    def _mask(mask: Array) -> Array:
        """torch hides where this mask is True; ``attention`` shows where its mask is True."""
        shown: Array = ~mask if mask.dtype == np.bool_ else mask
        return shown
