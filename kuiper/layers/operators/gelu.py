"""nn.GELU: a number times the probability that a normal number is smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

_KERNELS = {"none": activations.gelu, "tanh": activations.gelu_tanh}


@register("nn.GELU", "F.gelu")
class GELU(Elementwise):
    """``x * Phi(x)``, exactly (``approximate=none``) or with a tanh (``approximate=tanh``).

    Source: torch.nn.functional.gelu; Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.approximate = op.str_param("approximate", "none")
        if self.approximate not in _KERNELS:
            raise self.unsupported("approximate=none or tanh", self.approximate)

    def forward(self, x: Array) -> Array:
        return gelu(x, self.approximate, self.op.where)


def gelu(x: Array, approximate: str = "none", where: str = "gelu") -> Array:
    """``x * (1 + erf(x / sqrt(2))) / 2``, or ``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``.

    >>> import numpy as np
    >>> gelu(np.float32([-1, 0, 2])).round(4)
    array([-0.1587,  0.    ,  1.9545], dtype=float32)
    >>> gelu(np.float32([-1, 0, 2]), "tanh").round(4)
    array([-0.1588,  0.    ,  1.9546], dtype=float32)
    """
    return elementwise(_KERNELS[approximate], x, where=where)
