"""nn.GELU: a number times the probability that a normal number is smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_FUNCTIONS = {"none": Activation("gelu"), "tanh": Activation("gelu_tanh")}


@register("nn.GELU", "F.gelu")
class GELU(Elementwise):
    """``x * Phi(x)``, exactly (``approximate=none``) or with a tanh (``approximate=tanh``).

    Source: torch.nn.functional.gelu; Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        approximate = op.str_param("approximate", "none")
        if approximate not in _FUNCTIONS:
            raise self.unsupported("approximate=none or tanh", approximate)
        self.function = _FUNCTIONS[approximate]
