"""nn.Hardtanh: numbers kept within two limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.Hardtanh", "F.hardtanh")
class Hardtanh(Elementwise):
    """``min(max(x, min_val), max_val)``; integers stay whole.

    Source: torch.nn.functional.hardtanh.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.function = Activation("clip", op.float_param("min_val", -1.0), op.float_param("max_val", 1.0))
