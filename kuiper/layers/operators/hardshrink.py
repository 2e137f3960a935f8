"""nn.Hardshrink: what is small becomes 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.Hardshrink", "F.hardshrink")
class Hardshrink(Elementwise):
    """``x``, but 0 where ``|x| <= lambd``.

    Source: torch.nn.functional.hardshrink.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.function = Activation("hardshrink", op.float_param("lambd", 0.5))
