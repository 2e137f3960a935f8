"""nn.Hardsigmoid: the sigmoid as three straight lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Hardsigmoid", "F.hardsigmoid")
class Hardsigmoid(Elementwise):
    """``min(max(x + 3, 0), 6) / 6``.

    Source: torch.nn.functional.hardsigmoid.
    """

    def forward(self, x: Array) -> Array:
        return hardsigmoid(x, self.op.where)


def hardsigmoid(x: Array, where: str = "hardsigmoid") -> Array:
    """``min(max(x + 3, 0), 6) / 6`` of each number.

    >>> import numpy as np
    >>> hardsigmoid(np.float32([-4, 0, 1.5, 9]))
    array([0.  , 0.5 , 0.75, 1.  ], dtype=float32)
    """
    return elementwise(activations.hardsigmoid, x, where=where)
