"""nn.Sigmoid: the logistic function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Sigmoid", "F.sigmoid", "torch.sigmoid")
class Sigmoid(Elementwise):
    """``1 / (1 + exp(-x))``; integers become float32.

    Source: torch.sigmoid.
    """

    function = Activation("sigmoid")


def sigmoid(x: Array, where: str = "sigmoid") -> Array:
    """``1 / (1 + exp(-x))`` of each number, without overflow at either end.

    >>> import numpy as np
    >>> sigmoid(np.float32([-1, 0, 100])).round(3)
    array([0.269, 0.5  , 1.   ], dtype=float32)
    """
    return Activation("sigmoid").apply(x, where)
