"""kuiper.CausalAttention: attention of the newest tokens of a text to all that came before them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.scaled_dot_product_attention import attention
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("kuiper.CausalAttention")
class CausalAttention(Layer):
    """Queries (b, h, s, d), keys and values (b, g, t, d) -> (b, h, s, d); the queries are the last s of t positions.

    The query of a position sees the keys up to its own. ``h`` is a multiple of ``g``: the queries of heads
    ``i * h / g`` to ``(i + 1) * h / g - 1`` share the keys of head ``i``. ``scale`` is 1 / sqrt(d) unless given.

    Source: Vaswani et al., Attention Is All You Need, 2017; Ainslie et al., GQA, 2023 (shared keys).
    """

    data_inputs = ("query", "key", "value")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.scale = op.float_param("scale", None)

    def forward(self, query: Array, key: Array, value: Array) -> Array:
        return causal_attention(query, key, value, self.scale, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0][:-1]) * inputs[1][-2] * (4 * inputs[0][-1] + 5)


def causal_attention(
    query: Array, key: Array, value: Array, scale: float | None = None, where: str = "causal_attention"
) -> Array:
    """Attention of the last s of t positions, each to those up to itself; see ``CausalAttention``.

    >>> q, k, v = (np.ones((1, 1, n, 1), np.float32) for n in (1, 3, 3))
    >>> causal_attention(q, k, v * np.float32([1, 2, 6]).reshape(3, 1))
    array([[[[3.]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the three do not fit together.
    """
    check_heads(query.shape, key.shape, value.shape, where)
    if key.shape[2] < query.shape[2]:
        raise ShapeError(where, f"keys of at least {query.shape[2]} positions", key.shape)
    shared = query.shape[1] // key.shape[1]
    seen = np.tri(query.shape[2], key.shape[2], key.shape[2] - query.shape[2], dtype=np.bool_)
    return attention(query, np.repeat(key, shared, 1), np.repeat(value, shared, 1), seen, scale, where)


def check_heads(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...], where: str) -> None:
    """Raise unless queries (b, h, ., d) share keys and values (b, g, ., d), h a multiple of g.

    Raises
    ------
    ShapeError
        If they do not.
    """
    fits = len(query) == len(key) == 4 and key == value and (query[0], query[3]) == (key[0], key[3])
    if not fits or min(query[1], key[1]) == 0 or query[1] % key[1]:
        expected = "queries (b, h, s, d), keys and values (b, g, t, d), h a multiple of g"
        raise ShapeError(where, expected, f"{query}, {key}, {value}")
