"""torch.cumsum: running totals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.cumsum", "Tensor.cumsum")
class CumSum(Layer):
    """Entry ``i`` is the sum of the entries up to ``i`` along ``dim``; whole numbers and bools add up in int64.

    Source: torch.cumsum.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")

    def forward(self, x: Array) -> Array:
        dim = axis(self.dim, x.ndim, self.op.where)
        if x.dtype.kind == "f":
            return np.cumsum(x, dim, dtype=np.float64).reshape(x.shape).astype(x.dtype)
        return np.cumsum(x, dim, dtype=np.int64).reshape(x.shape)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])
