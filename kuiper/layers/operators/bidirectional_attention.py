"""kuiper.BidirectionalAttention: attention of every token of a text to the whole text."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, StatefulLayer
from kuiper.layers.operators.scaled_dot_product_attention import attention
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import OperatorState


@register("kuiper.BidirectionalAttention")
class BidirectionalAttention(StatefulLayer):
    """Queries, keys and values (b, h, s, d) -> (b, h, s, d): each token sees all tokens of its text.

    Where the rows are tokens of several texts, one behind the other, each sees those of its own; a row of no text
    becomes zeros. ``scale`` is 1 / sqrt(d) unless given. A text comes in one call: it cannot go on in the next.

    Source: J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2019.
    """

    data_inputs = ("query", "key", "value")
    reads_whole_texts = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.scale = op.float_param("scale", None)

    def forward(self, query: Array, key: Array, value: Array, state: OperatorState) -> Array:
        if query.ndim != 4 or not query.shape == key.shape == value.shape:
            expected = "queries, keys and values of one shape (b, h, s, d)"
            raise ShapeError(self.op.where, expected, f"{query.shape}, {key.shape}, {value.shape}")
        if state.paging is None:
            return attention(query, key, value, None, self.scale, self.op.where)
        self.expect(len(query) == 1, "rows of texts as (1, h, s, d)", query.shape)
        out = np.zeros_like(query)
        for rows in runs(state.integers("texts")[: query.shape[2]]):
            q, k, v = (x[:, :, rows] for x in (query, key, value))
            out[:, :, rows] = attention(q, k, v, None, self.scale, self.op.where)
        return out

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0][:-1]) * inputs[1][-2] * (4 * inputs[0][-1] + 5)


def runs(texts: Array) -> Iterator[slice]:
    """The rows of each text, given the number of each row's text; -1 for none.

    >>> list(runs(np.array([0, 0, 0, 1, -1])))
    [slice(0, 3, None), slice(3, 4, None)]
    """
    edges = [0, *(np.flatnonzero(np.diff(texts)) + 1).tolist(), len(texts)]
    for first, end in pairwise(edges):
        if end > first and texts[first] >= 0:
            yield slice(first, end)
