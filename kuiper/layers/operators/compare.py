"""torch.gt, lt, ge, le, eq, ne: which entries stand in a relation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.clamp import number_param
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
    """True where the input stands in the relation to ``other``, a number, a list of them, or a tensor; both broadcast.

    Source: torch.gt.
    """

    data_inputs = ("input", "self", "other")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.relation = RELATIONS[op.type]
        given = op.params["other"].value if op.has_param("other") else None
        self.other = np.array(given) if isinstance(given, (list, tuple, bool)) else number_param(op, "other")

    def forward(self, x: Array, *tensors: Any) -> Array:
        other = tensors[0] if tensors else self.other
        if other is None:
            raise ParameterError(self.op.where, "something to compare with, other", "none")
        return np.asarray(self.relation(x, other))

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0])
