"""nn.MaxPool1d: the largest number in each window of a sequence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.max_pool2d import max_pool2d, max_pool2d_with_indices
from kuiper.layers.planes import as_rows
from kuiper.layers.registry import register
from kuiper.layers.window import read_pooling_window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.MaxPool1d", "F.max_pool1d")
class MaxPool1d(Layer):
    """``nn.MaxPool2d`` on an image of height 1; with ``return_indices`` also the place of each maximum, int64.

    Source: torch.nn.functional.max_pool1d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_pooling_window(op, 1)
        self.return_indices = op.bool_param("return_indices", False)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        rows = as_rows(x, self.op.where)
        if not self.return_indices:
            return max_pool2d(rows, self.window, self.op.where)[..., 0, :]
        values, indices = max_pool2d_with_indices(rows, self.window, self.op.where)
        return values[..., 0, :], indices[..., 0, :]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * self.window.kernel[1]
