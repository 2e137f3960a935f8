"""nn.Hardshrink: what is small becomes 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.Hardshrink", "F.hardshrink")
class Hardshrink(Elementwise):
    """``x``, but 0 where ``|x| <= lambd``.

    Source: torch.nn.functional.hardshrink.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.lambd = op.float_param("lambd", 0.5)

    def forward(self, x: Array) -> Array:
        return hardshrink(x, self.lambd, self.op.where)


def hardshrink(x: Array, lambd: float = 0.5, where: str = "hardshrink") -> Array:
    """``x``, but 0 where ``|x| <= lambd``.

    >>> import numpy as np
    >>> hardshrink(np.float32([-2, 0.5, 1]))
    array([-2.,  0.,  1.], dtype=float32)
    """
    return elementwise(activations.hardshrink, x, lambd, where=where)
