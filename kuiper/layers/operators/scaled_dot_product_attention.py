"""F.scaled_dot_product_attention: every query mixes the values by how well their keys match."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.matmul import matmul
from kuiper.layers.operators.softmax import softmax
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("F.scaled_dot_product_attention")
class ScaledDotProductAttention(Layer):
    """softmax(Q K^T scale + mask) V for queries (..., l, e), keys (..., s, e), values (..., s, v) -> (..., l, v).

    ``scale`` is 1 / sqrt(e) unless given. A mask (..., l, s) of bools says which keys take part, one of floats is
    added. ``is_causal`` lets query i see the keys 0..i only. With ``enable_gqa`` there may be fewer heads
    (..., h, s, e) of keys and values than of queries; each then serves several of these, side by side.

    Source: torch.nn.functional.scaled_dot_product_attention; Vaswani et al., Attention Is All You Need, 2017, eq. 1.
    """

    data_inputs = ("query", "key", "value", "attn_mask")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.scale = op.float_param("scale", None)
        self.is_causal = op.bool_param("is_causal", False)
        if op.float_param("dropout_p", 0.0) != 0:
            raise self.unsupported("dropout_p=0", op.float_param("dropout_p"))
        self.grouped = op.bool_param("enable_gqa", False)

    def forward(self, query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
        if self.is_causal:
            if mask is not None:
                raise self.unsupported("either attn_mask or is_causal", "both")
            mask = np.tri(query.shape[-2], key.shape[-2], dtype=np.bool_)
        if self.grouped:
            key, value = (with_heads(x, query, self.op.where) for x in (key, value))
        return attention(query, key, value, mask, self.scale, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        scores = math.prod(outputs[0][:-1]) * inputs[1][-2]
        return scores * (2 * inputs[0][-1] + 2 * inputs[2][-1] + 5)


def with_heads(x: Array, query: Array, where: str = "attention") -> Array:
    """Keys or values (..., heads, s, e) with each head as often as the queries (..., h, l, e) need it.

    >>> x = np.arange(2).reshape(1, 2, 1, 1)
    >>> with_heads(x, np.zeros((1, 4, 3, 1))).ravel().tolist()
    [0, 0, 1, 1]

    Raises
    ------
    ShapeError
        If the number of queries' heads is no multiple.
    """
    fits = min(x.ndim, query.ndim) >= 3 and x.shape[-3] and query.shape[-3] % x.shape[-3] == 0
    if not fits:
        raise ShapeError(where, "heads of queries that are a multiple of those of keys", (query.shape, x.shape))
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)


def attention(
    query: Array, key: Array, value: Array, mask: Array | None, scale: float | None, where: str = "attention"
) -> Array:
    """softmax(Q K^T scale + mask) V; a query that the mask shows no key gets zeros.

    >>> q, k, v = np.ones((1, 2)), np.array([[9, 0], [0, 0]]), np.array([[5], [7]])
    >>> attention(*(x.astype(np.float32) for x in (q, k, v)), np.array([[False, True]]), None)
    array([[7.]], dtype=float32)

    Raises
    ------
    ShapeError
        If the three, or the mask, do not fit together.
    DataTypeError
        If the mask holds neither bools nor floats.
    """
    if (
        min(query.ndim, key.ndim, value.ndim) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != value.shape[-2]
    ):
        shapes = f"{query.shape}, {key.shape}, {value.shape}"
        raise ShapeError(where, "query (..., l, e), key (..., s, e), value (..., s, v)", shapes)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = matmul(query * np.float32(scale), key.swapaxes(-1, -2), where)
    if mask is None:
        return matmul(softmax(scores, -1, where), value, where)
    if mask.dtype.kind not in "bf":
        raise DataTypeError(where, "a mask of bools or floats", mask.dtype)
    try:
        scores += np.where(mask, np.float32(0), np.float32(-np.inf)) if mask.dtype == np.bool_ else mask
    except ValueError:
        raise ShapeError(where, f"a mask that broadcasts to {scores.shape}", mask.shape) from None
    sees_none = np.all(np.isneginf(scores), axis=-1, keepdims=True)
    weights = softmax(np.where(sees_none, np.float32(0), scores), -1, where)
    return matmul(np.where(sees_none, np.float32(0), weights), value, where)
