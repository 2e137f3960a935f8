"""nn.AvgPool1d: the mean of each window of a sequence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.avg_pool2d import avg_pool2d
from kuiper.layers.planes import as_rows
from kuiper.layers.registry import register
from kuiper.layers.window import read_pooling_window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.AvgPool1d", "F.avg_pool1d")
class AvgPool1d(Layer):
    """``nn.AvgPool2d`` on an image of height 1.

    Source: torch.nn.functional.avg_pool1d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_pooling_window(op, 1)
        self.count_include_pad = op.bool_param("count_include_pad", True)

    def forward(self, x: Array) -> Array:
        return avg_pool2d(as_rows(x, self.op.where), self.window, self.count_include_pad, where=self.op.where)[
            ..., 0, :
        ]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * self.window.kernel[1]
