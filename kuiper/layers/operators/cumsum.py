"""torch.cumsum and torch.cumprod: running totals and running products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.cumsum", "Tensor.cumsum", "torch.cumprod", "Tensor.cumprod")
class CumSum(Layer):
    """Entry ``i`` is the sum or product of the entries up to ``i`` along ``dim``; of integers and bools in int64.

    Source: torch.cumsum, torch.cumprod.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        self.accumulate = np.cumprod if op.type.endswith("prod") else np.cumsum

    def forward(self, x: Array) -> Array:
        dim = axis(self.dim, x.ndim, self.op.where)
        if x.dtype.kind == "f":
            return self.accumulate(x, dim, dtype=np.float64).reshape(x.shape).astype(x.dtype)
        return self.accumulate(x, dim, dtype=np.int64).reshape(x.shape)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])
