"""nn.Sigmoid: the logistic function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, as_fractions, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Sigmoid", "F.sigmoid", "torch.sigmoid")
class Sigmoid(Elementwise):
    """``1 / (1 + exp(-x))``; whole numbers become float32.

    Source: torch.sigmoid.
    """

    def forward(self, x: Array) -> Array:
        return sigmoid(x, self.op.where)


def sigmoid(x: Array, where: str = "sigmoid") -> Array:
    """``1 / (1 + exp(-x))`` of each number, without overflow at either end.

    >>> import numpy as np
    >>> sigmoid(np.float32([-1, 0, 100])).round(3)
    array([0.269, 0.5  , 1.   ], dtype=float32)
    """
    return elementwise(activations.sigmoid, as_fractions(x), where=where)
