"""F.pairwise_distance: how far vectors are apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.norm import norm
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("F.pairwise_distance")
class PairwiseDistance(Layer):
    """The ``p``-norm of x1 - x2 + eps along the last axis.

    Source: torch.nn.functional.pairwise_distance.
    """

    data_inputs = ("x1", "x2")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.p, self.eps = op.float_param("p", 2.0), op.float_param("eps", 1e-6)
        self.keepdim = op.bool_param("keepdim", False)

    def forward(self, x1: Array, x2: Array) -> Array:
        self.expect(x1.ndim > 0 and x2.ndim > 0, "inputs with axes", (x1.shape, x2.shape))
        return norm(x1 - x2 + np.float32(self.eps), self.p, (-1,), self.keepdim, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 4 * math.prod(inputs[0])
