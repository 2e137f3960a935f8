"""torch.topk: the largest entries, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.topk", "Tensor.topk")
class TopK(Layer):
    """The ``k`` largest (or smallest) entries along ``dim``, in order, and their indices; NaN is the largest of all.

    Among equals torch promises no order of the indices; here the first comes first.

    Source: torch.topk.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.k = op.int_param("k")
        self.dim = op.int_param("dim", -1)
        self.largest = op.bool_param("largest", True)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        dim = axis(self.dim, x.ndim, self.op.where)
        self.expect(0 <= self.k <= x.shape[dim], f"k within 0..{x.shape[dim]}", self.k)
        values, indices = topk(x, self.k, dim, self.largest)
        return values if len(self.op.outputs) == 1 else (values, indices)


def topk(x: Array, k: int, dim: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The ``k`` largest or smallest entries along axis ``dim`` and their indices.

    >>> topk(np.array([3, 9, 1, 9]), 3)
    (array([9, 9, 3]), array([1, 3, 0]))
    """
    if largest:  # a stable sort of the reversed axis, read from its end: equals keep their order
        order = x.shape[dim] - 1 - np.flip(np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)
    else:
        order = np.argsort(x, axis=dim, kind="stable")
    indices = np.take(order, np.arange(k), axis=dim).astype(np.int64, copy=False)
    return np.take_along_axis(x, indices, dim), indices
