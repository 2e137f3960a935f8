"""nn.Threshold: what does not exceed a limit is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.Threshold", "F.threshold")
class Threshold(Elementwise):
    """``x`` where it is greater than ``threshold``, else ``value``.

    Source: torch.nn.functional.threshold.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.function = Activation("threshold", op.float_param("threshold"), op.float_param("value"))
