"""nn.Tanhshrink: what the tanh takes away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Tanhshrink", "F.tanhshrink")
class Tanhshrink(Elementwise):
    """``x - tanh(x)``.

    Source: torch.nn.functional.tanhshrink.
    """

    def forward(self, x: Array) -> Array:
        return tanhshrink(x, self.op.where)


def tanhshrink(x: Array, where: str = "tanhshrink") -> Array:
    """``x - tanh(x)`` of each number.

    >>> import numpy as np
    >>> tanhshrink(np.float32([-9, 0, 1])).round(3)
    array([-8.   ,  0.   ,  0.238], dtype=float32)
    """
    return elementwise(activations.tanhshrink, x, where=where)
