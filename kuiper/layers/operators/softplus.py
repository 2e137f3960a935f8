"""nn.Softplus: ReLU with a smooth bend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.Softplus", "F.softplus")
class Softplus(Elementwise):
    """``ln(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x > threshold``.

    Source: torch.nn.functional.softplus.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.function = Activation("softplus", op.float_param("beta", 1.0), op.float_param("threshold", 20.0))
