"""nn.Softshrink: every number a step nearer to 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.Softshrink", "F.softshrink")
class Softshrink(Elementwise):
    """``x - lambd`` above ``lambd``, ``x + lambd`` below ``-lambd``, 0 between.

    Source: torch.nn.functional.softshrink.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.lambd = op.float_param("lambd", 0.5)

    def forward(self, x: Array) -> Array:
        return softshrink(x, self.lambd, self.op.where)


def softshrink(x: Array, lambd: float = 0.5, where: str = "softshrink") -> Array:
    """``x`` moved by ``lambd`` towards 0, and 0 where ``|x| <= lambd``.

    >>> import numpy as np
    >>> softshrink(np.float32([-2, 0.25, 1]))
    array([-1.5,  0. ,  0.5], dtype=float32)
    """
    return elementwise(activations.softshrink, x, lambd, where=where)
