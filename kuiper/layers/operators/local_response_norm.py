"""nn.LocalResponseNorm: each number damped by its neighbours in the nearby channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.LocalResponseNorm", "F.local_response_norm")
class LocalResponseNorm(Layer):
    """``x / (k + alpha * m)**beta``, where m is the mean of the squares in ``size`` channels around.

    Source: torch.nn.functional.local_response_norm; Krizhevsky, Sutskever and Hinton, 2012, section 3.3.
    """

    is_pixelwise = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.size = op.int_param("size")
        self.alpha = op.float_param("alpha", 1e-4)
        self.beta = op.float_param("beta", 0.75)
        self.k = op.float_param("k", 1.0)
        if self.size < 1:
            raise ParameterError(op.where, "size >= 1", self.size)

    def forward(self, x: Array) -> Array:
        return local_response_norm(x, self.size, self.alpha, self.beta, self.k, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return (self.size + 5) * math.prod(outputs[0])


def local_response_norm(
    x: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0, where: str = "local_response_norm"
) -> Array:
    """``x`` (n, c, ...) divided by ``(k + alpha * mean)**beta``.

    The mean is that of the squares in ``size`` channels, from ``size // 2`` before to ``(size - 1) // 2`` behind;
    channels that do not exist count as 0.

    >>> local_response_norm(np.float32([[1, 2, 3]]), 2, alpha=2.0, beta=1.0, k=0.0).round(3)
    array([[1.   , 0.4  , 0.231]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` has fewer than two axes.
    """
    if x.ndim < 2:
        raise ShapeError(where, "input (n, c, ...)", x.shape)
    border = [(0, 0)] * x.ndim
    border[1] = (size // 2, (size - 1) // 2)
    squares = np.lib.stride_tricks.sliding_window_view(np.pad(x * x, border), size, axis=1)
    damped: Array = x / (k + alpha * squares.mean(-1)) ** beta
    return damped
