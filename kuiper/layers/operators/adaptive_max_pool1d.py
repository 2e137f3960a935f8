"""nn.AdaptiveMaxPool1d: the maxima of as many windows of a sequence as asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.adaptive_avg_pool1d import read_output_width
from kuiper.layers.operators.adaptive_max_pool2d import adaptive_max_pool2d
from kuiper.layers.planes import as_rows
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.AdaptiveMaxPool1d", "F.adaptive_max_pool1d")
class AdaptiveMaxPool1d(Layer):
    """``nn.AdaptiveMaxPool2d`` on an image of height 1.

    Source: torch.nn.functional.adaptive_max_pool1d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.output_size = read_output_width(op)
        self.return_indices = op.bool_param("return_indices", False)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        pooled = adaptive_max_pool2d(as_rows(x, self.op.where), (1, self.output_size), self.op.where)
        values, indices = (array[..., 0, :] for array in pooled)
        return (values, indices) if self.return_indices else values

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])  # windows overlap by one number at most
