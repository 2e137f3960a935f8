"""torch.topk: the largest entries, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.kernels import ranking
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_WORTH_SORTING = 4
"""From a fourth of the entries on, sorting them all is not slower."""


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
    rows = np.moveaxis(x, dim, -1)
    if x.dtype == np.float32 and 0 < k <= rows.shape[-1] // _WORTH_SORTING and x.size:
        values, indices = _top_of_rows(np.ascontiguousarray(rows), k, largest)
    else:
        indices = indices_by_sorting(rows, k, largest)
        values = np.take_along_axis(rows, indices, -1)
    return np.moveaxis(values, -1, dim), np.moveaxis(indices, -1, dim)


def _top_of_rows(x: Array, k: int, largest: bool) -> tuple[Array, Array]:
    """The same of float32 numbers along the last axis, which is contiguous."""
    count = x.shape[-1]
    values = np.empty((x.size // count, k), np.float32)
    indices = np.empty(values.shape, np.int64)
    ranking.top_of_rows(x.reshape(-1, count), largest, values, indices, min(len(values), threads_for(x.size)))
    shape = (*x.shape[:-1], k)
    return values.reshape(shape), indices.reshape(shape)


def indices_by_sorting(x: Array, k: int, largest: bool) -> Array:
    """Indices of the ``k`` largest or smallest entries along the last axis, of any element type."""
    if largest:  # a stable sort of the reversed axis, read from its end: equals keep their order
        order = x.shape[-1] - 1 - np.flip(np.argsort(np.flip(x, -1), axis=-1, kind="stable"), -1)
    else:
        order = np.argsort(x, axis=-1, kind="stable")
    return np.asarray(order[..., :k], np.int64)
