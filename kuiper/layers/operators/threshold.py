"""nn.Threshold: what does not exceed a limit is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.Threshold", "F.threshold")
class Threshold(Elementwise):
    """``x`` where it is greater than ``threshold``, else ``value``.

    Source: torch.nn.functional.threshold.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.threshold = op.float_param("threshold")
        self.value = op.float_param("value")

    def forward(self, x: Array) -> Array:
        return threshold(x, self.threshold, self.value, self.op.where)


def threshold(x: Array, limit: float, value: float, where: str = "threshold") -> Array:
    """``x`` where it is greater than ``limit``, else ``value``; NaN stays NaN.

    >>> import numpy as np
    >>> threshold(np.float32([0, 1, 2]), 1.0, -5.0)
    array([-5., -5.,  2.], dtype=float32)
    """
    return elementwise(activations.threshold, x, limit, value, where=where)
