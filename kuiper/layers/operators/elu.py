"""nn.ELU: an exponential that levels off below 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.ELU", "F.elu")
class ELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Source: torch.nn.functional.elu; Clevert, Unterthiner and Hochreiter, Exponential Linear Units, 2015.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.function = Activation("elu", op.float_param("alpha", 1.0))
