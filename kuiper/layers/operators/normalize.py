"""F.normalize: vectors divided by their length."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("F.normalize")
class Normalize(Layer):
    """``x / max(|x|_p, eps)`` along ``dim``.

    Source: torch.nn.functional.normalize.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.p = op.float_param("p", 2.0)
        self.dim = op.int_param("dim", 1)
        self.eps = op.float_param("eps", 1e-12)

    def forward(self, x: Array) -> Array:
        return normalize(x, self.p, self.dim, self.eps, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 3 * math.prod(outputs[0])


def normalize(x: Array, p: float = 2.0, dim: int = 1, eps: float = 1e-12, where: str = "normalize") -> Array:
    """``x`` divided by its p-norm along ``dim``, or by ``eps`` where the norm is smaller.

    >>> normalize(np.float32([[3, 4], [0, 0]])).round(3)
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)

    Raises
    ------
    ShapeError
        If there is no such axis.
    """
    length = np.linalg.norm(x.astype(np.float64), p, axis(dim, x.ndim, where), keepdims=True)
    normalized: Array = (x / np.maximum(length, eps)).astype(np.float32)
    return normalized
