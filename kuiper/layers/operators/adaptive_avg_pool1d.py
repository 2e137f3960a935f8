"""nn.AdaptiveAvgPool1d: the means of as many windows of a sequence as asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.adaptive_avg_pool2d import adaptive_avg_pool2d
from kuiper.layers.planes import as_rows
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.AdaptiveAvgPool1d", "F.adaptive_avg_pool1d")
class AdaptiveAvgPool1d(Layer):
    """``nn.AdaptiveAvgPool2d`` on an image of height 1.

    Source: torch.nn.functional.adaptive_avg_pool1d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.output_size = read_output_width(op)

    def forward(self, x: Array) -> Array:
        return adaptive_avg_pool2d(as_rows(x, self.op.where), (1, self.output_size), self.op.where)[..., 0, :]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])  # windows overlap by one number at most


def read_output_width(op: RuntimeOperator) -> int:
    """The parameter ``output_size`` of a 1-D adaptive pool; 0 stands for "as the input"."""
    sizes = op.ints_param("output_size", (0,))
    if len(sizes) != 1 or sizes[0] < 0:
        raise ParameterError(op.where, "output_size=one number, None or 0 to keep the size", sizes)
    return sizes[0]
