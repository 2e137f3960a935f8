"""torch.gt, lt, ge, le, eq, ne: which entries stand in a relation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.clamp import number_param
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

RELATIONS = {
    "torch.gt": np.greater,
    "torch.lt": np.less,
    "torch.ge": np.greater_equal,
    "torch.le": np.less_equal,
    "torch.eq": np.equal,
    "torch.ne": np.not_equal,
}


@register(*RELATIONS)
class Compare(Layer):
    """True where the input stands in the relation to ``other``, a number or a tensor; both broadcast.

    Source: torch.gt.
    """

    data_inputs = ("input", "self", "other")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.relation = RELATIONS[op.type]
        self.other = number_param(op, "other") if len(op.inputs) == 1 else None

    def forward(self, x: Array, other: Array | float | None = None) -> Array:
        return np.asarray(self.relation(x, self.other if other is None else other))

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])
