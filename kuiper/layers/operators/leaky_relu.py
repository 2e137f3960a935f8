"""nn.LeakyReLU: a small slope below 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.LeakyReLU", "F.leaky_relu")
class LeakyReLU(Elementwise):
    """``x`` where it is positive, else ``negative_slope * x``.

    Source: torch.nn.functional.leaky_relu; Maas, Hannun and Ng, Rectifier Nonlinearities, 2013.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.negative_slope = op.float_param("negative_slope", 0.01)

    def forward(self, x: Array) -> Array:
        return leaky_relu(x, self.negative_slope, self.op.where)


def leaky_relu(x: Array, negative_slope: float = 0.01, where: str = "leaky_relu") -> Array:
    """``x`` where it is positive, else ``negative_slope * x``.

    >>> import numpy as np
    >>> leaky_relu(np.float32([-2, 0, 3]), 0.5)
    array([-1.,  0.,  3.], dtype=float32)
    """
    return elementwise(activations.leaky_relu, x, negative_slope, where=where)
