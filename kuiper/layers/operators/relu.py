"""nn.ReLU: what is negative becomes 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.ReLU", "F.relu", "torch.relu")
class ReLU(Elementwise):
    """``max(x, 0)``; whole numbers stay whole.

    Source: torch.relu; Nair and Hinton, Rectified Linear Units Improve Restricted Boltzmann Machines, 2010.
    """

    def forward(self, x: Array) -> Array:
        return relu(x, self.op.where)


def relu(x: Array, where: str = "relu") -> Array:
    """``max(x, 0)`` of each number, in the type of ``x``.

    >>> relu(np.float32([-2, 0, 3]))
    array([0., 0., 3.], dtype=float32)
    """
    if x.dtype.kind in "iu":
        positive: Array = np.maximum(x, 0)
        return positive
    return elementwise(activations.relu, x, where=where)
