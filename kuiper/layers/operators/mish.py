"""nn.Mish: a number times the tanh of its softplus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.Mish", "F.mish")
class Mish(Elementwise):
    """``x * tanh(ln(1 + exp(x)))``.

    Source: torch.nn.functional.mish; Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019.
    """

    def forward(self, x: Array) -> Array:
        return mish(x, self.op.where)


def mish(x: Array, where: str = "mish") -> Array:
    """``x * tanh(softplus(x))`` of each number.

    >>> import numpy as np
    >>> mish(np.float32([-1, 0, 2])).round(3)
    array([-0.303,  0.   ,  1.944], dtype=float32)
    """
    return elementwise(activations.mish, x, where=where)
