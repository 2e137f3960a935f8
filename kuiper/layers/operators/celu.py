"""nn.CELU: an ELU whose slope has no jump, whatever its ``alpha``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.CELU", "F.celu")
class CELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    Source: torch.nn.functional.celu; Barron, Continuously Differentiable Exponential Linear Units, 2017.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        alpha = op.float_param("alpha", 1.0)
        if alpha == 0:
            raise ParameterError(op.where, "alpha other than 0", alpha)
        self.function = Activation("celu", alpha, 1 / alpha)
