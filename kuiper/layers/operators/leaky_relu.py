"""nn.LeakyReLU: a small slope below 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.LeakyReLU", "F.leaky_relu")
class LeakyReLU(Elementwise):
    """``x`` where it is positive, else ``negative_slope * x``.

    Source: torch.nn.functional.leaky_relu; Maas, Hannun and Ng, Rectifier Nonlinearities, 2013.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.function = Activation("leaky_relu", op.float_param("negative_slope", 0.01))
