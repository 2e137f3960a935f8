"""nn.PReLU: a leaky ReLU whose slope was learned, one for all channels or one for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.activation import Activation
from kuiper.layers.blocks import as_blocks
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.PReLU", "F.prelu")
class PReLU(Elementwise):
    """``x`` where it is positive, else ``weight * x``; the weight of F.prelu is its second input.

    Source: torch.nn.functional.prelu; He et al., Delving Deep into Rectifiers, 2015.
    """

    data_inputs = ("input", "self", "weight")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.weights = [op.attr("weight")] if op.type == "nn.PReLU" else []
        if self.weights and self.weights[0].size == 1:
            self.function = Activation("leaky_relu", float(self.weights[0].item()))

    def forward(self, x: Array, *operands: Array) -> Array:
        (weight,) = operands or self.weights
        return prelu(x, weight, self.op.where)


def prelu(x: Array, weight: Array, where: str = "prelu") -> Array:
    """``x`` where it is positive, else ``weight[c] * x`` for channel ``c``, axis 1 of ``x`` (n, c, ...).

    >>> prelu(np.float32([[-1, -1], [2, -4]]), np.float32([0.5, 0.25]))
    array([[-0.5 , -0.25],
           [ 2.  , -1.  ]], dtype=float32)

    Raises
    ------
    ShapeError
        If there is neither one weight nor one for each channel.
    """
    slopes = np.ascontiguousarray(weight, np.float32).reshape(-1)
    if slopes.size == 1:
        return Activation("leaky_relu", float(slopes[0])).apply(x, where)
    channels = x.shape[1] if x.ndim > 1 else 1
    if slopes.size != channels:
        raise ShapeError(where, f"a weight for each of {channels} channels, or one", weight.shape)
    blocks = as_blocks(x, 1, 2, where)
    y = np.empty_like(blocks)
    for channel, slope in enumerate(slopes.tolist()):
        y[:, channel] = Activation("leaky_relu", slope).apply(blocks[:, channel], where)
    return y.reshape(x.shape)
