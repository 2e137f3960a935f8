"""nn.ReLU: what is negative becomes 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.ReLU", "F.relu", "torch.relu")
class ReLU(Elementwise):
    """``max(x, 0)``; integers stay whole.

    Source: torch.relu; Nair and Hinton, Rectified Linear Units Improve Restricted Boltzmann Machines, 2010.
    """

    function = Activation("relu")


def relu(x: Array, where: str = "relu") -> Array:
    """``max(x, 0)`` of each number, in the type of ``x``.

    >>> import numpy as np
    >>> relu(np.float32([-2, 0, 3]))
    array([0., 0., 3.], dtype=float32)
    """
    return Activation("relu").apply(x, where)
