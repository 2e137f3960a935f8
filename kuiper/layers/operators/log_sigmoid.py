"""nn.LogSigmoid: the logarithm of the logistic function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("nn.LogSigmoid", "F.logsigmoid")
class LogSigmoid(Elementwise):
    """``ln(1 / (1 + exp(-x)))``.

    Source: torch.nn.functional.logsigmoid.
    """

    def forward(self, x: Array) -> Array:
        return logsigmoid(x, self.op.where)


def logsigmoid(x: Array, where: str = "logsigmoid") -> Array:
    """``ln(sigmoid(x))`` of each number; ``x`` itself far below 0, where the sigmoid would be 0.

    >>> import numpy as np
    >>> logsigmoid(np.float32([-100, 0])).round(3)
    array([-100.   ,   -0.693], dtype=float32)
    """
    return elementwise(activations.logsigmoid, x, where=where)
