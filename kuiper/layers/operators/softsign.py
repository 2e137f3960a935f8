"""nn.Softsign: a number divided by one more than its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Softsign", "F.softsign")
class Softsign(Elementwise):
    """``x / (1 + |x|)``.

    Source: torch.nn.functional.softsign.
    """

    def forward(self, x: Array) -> Array:
        return softsign(x, self.op.where)


def softsign(x: Array, where: str = "softsign") -> Array:
    """``x / (1 + |x|)`` of each number.

    >>> import numpy as np
    >>> softsign(np.float32([-3, 0, 1]))
    array([-0.75,  0.  ,  0.5 ], dtype=float32)
    """
    return elementwise(activations.softsign, x, where=where)
