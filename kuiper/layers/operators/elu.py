"""nn.ELU: an exponential that levels off below 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.ELU", "F.elu")
class ELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Source: torch.nn.functional.elu; Clevert, Unterthiner and Hochreiter, Exponential Linear Units, 2015.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.alpha = op.float_param("alpha", 1.0)

    def forward(self, x: Array) -> Array:
        return elu(x, self.alpha, self.op.where)


def elu(x: Array, alpha: float = 1.0, where: str = "elu") -> Array:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    >>> import numpy as np
    >>> elu(np.float32([-100, -1, 3]), 2.0).round(3)
    array([-2.   , -1.264,  3.   ], dtype=float32)
    """
    return elementwise(activations.elu, x, 1.0, alpha, 1.0, where=where)
