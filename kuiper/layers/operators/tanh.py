"""nn.Tanh: the hyperbolic tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, as_fractions, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Tanh", "F.tanh", "torch.tanh")
class Tanh(Elementwise):
    """``(exp(x) - exp(-x)) / (exp(x) + exp(-x))``; whole numbers become float32.

    Source: torch.tanh.
    """

    def forward(self, x: Array) -> Array:
        return tanh(x, self.op.where)


def tanh(x: Array, where: str = "tanh") -> Array:
    """``tanh(x)`` of each number.

    >>> import numpy as np
    >>> tanh(np.float32([-100, 0, 0.5])).round(3)
    array([-1.   ,  0.   ,  0.462], dtype=float32)
    """
    return elementwise(activations.tanh, as_fractions(x), where=where)
