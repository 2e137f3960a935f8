"""nn.Softplus: ReLU with a smooth bend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.Softplus", "F.softplus")
class Softplus(Elementwise):
    """``ln(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x > threshold``.

    Source: torch.nn.functional.softplus.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.beta = op.float_param("beta", 1.0)
        self.threshold = op.float_param("threshold", 20.0)

    def forward(self, x: Array) -> Array:
        return softplus(x, self.beta, self.threshold, self.op.where)


def softplus(x: Array, beta: float = 1.0, threshold: float = 20.0, where: str = "softplus") -> Array:
    """``ln(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x > threshold``.

    >>> import numpy as np
    >>> softplus(np.float32([-1, 0, 30])).round(3)
    array([ 0.313,  0.693, 30.   ], dtype=float32)
    """
    return elementwise(activations.softplus, x, beta, threshold, where=where)
