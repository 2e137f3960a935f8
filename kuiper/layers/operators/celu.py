"""nn.CELU: an ELU whose slope has no jump, whatever its ``alpha``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.CELU", "F.celu")
class CELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    Source: torch.nn.functional.celu; Barron, Continuously Differentiable Exponential Linear Units, 2017.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.alpha = op.float_param("alpha", 1.0)
        if self.alpha == 0:
            raise ParameterError(op.where, "alpha other than 0", self.alpha)

    def forward(self, x: Array) -> Array:
        return celu(x, self.alpha, self.op.where)


def celu(x: Array, alpha: float = 1.0, where: str = "celu") -> Array:
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    >>> import numpy as np
    >>> celu(np.float32([-100, -2, 3]), 2.0).round(3)
    array([-2.   , -1.264,  3.   ], dtype=float32)
    """
    return elementwise(activations.elu, x, 1.0, alpha, 1 / alpha, where=where)
