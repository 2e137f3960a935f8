"""kuiper.FusedAttention: attention as files spell it out, in one operator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.matmul import matmul
from kuiper.layers.operators.softmax import softmax
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("kuiper.FusedAttention")
class FusedAttention(Layer):
    """softmax(scale Q K^T, masked) V for queries (..., l, e), keys (..., s, e), values (..., s, v) -> (..., l, v).

    With ``keys_turned``, keys are (..., e, s). A mask is added to the scores (..., l, s); one of bools chooses which of
    them become ``fill``: those where it is True, or False if ``fill_where`` says so. Mask and scores broadcast in both
    directions, and a query all of whose scores are -inf gets NaN: both as the operators in whose place this one stands
    have it. With ``zeros`` it gets zeros.

    Source: made by the pass recognise_attention.
    """

    data_inputs = ("query", "key", "value", "mask")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.scale = op.float_param("scale")
        self.keys_turned = op.bool_param("keys_turned", False)
        self.zeros = op.bool_param("zeros", False)
        fill: float | None = op.float_param("fill", None)
        self.fills, self.fill = fill is not None, np.float32(0 if fill is None else fill)
        self.fill_where = op.bool_param("fill_where", True)

    def forward(self, query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
        turned = key if self.keys_turned else key.swapaxes(-1, -2)
        scores = matmul(query * np.float32(self.scale), turned, self.op.where)
        if mask is not None:
            scores = self._masked(scores, mask)
        if not self.zeros:
            return matmul(softmax(scores, -1, self.op.where), value, self.op.where)
        sees_none = np.all(np.isneginf(scores), axis=-1, keepdims=True)
        weights = softmax(np.where(sees_none, np.float32(0), scores), -1, self.op.where)
        return matmul(np.where(sees_none, np.float32(0), weights), value, self.op.where)

    def _masked(self, scores: Array, mask: Array) -> Array:
        self.expect((mask.dtype == np.bool_) == self.fills, "a mask of bools, if with fill", mask.dtype)
        try:
            if not self.fills:
                return np.asarray(scores + mask)
            hidden: Array = np.where(mask == self.fill_where, self.fill, scores)
        except ValueError:
            raise ShapeError(self.op.where, f"a mask that broadcasts with {scores.shape}", mask.shape) from None
        return hidden

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        scores = math.prod(outputs[0][:-1]) * inputs[1][-1 if self.keys_turned else -2]
        return scores * (2 * inputs[0][-1] + 2 * inputs[2][-1] + 5)
