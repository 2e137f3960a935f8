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
    rows = np.moveaxis(x, dim, -1)
    indices = _indices(rows, k, largest)
    values = np.take_along_axis(rows, indices, -1)
    return np.moveaxis(values, -1, dim), np.moveaxis(indices, -1, dim)


def _indices(x: Array, k: int, largest: bool) -> Array:
    """Indices of the ``k`` largest or smallest entries along the last axis, in order. Only these are sorted."""
    size = x.shape[-1]
    if not 0 < k < size:
        return indices_by_sorting(x, k, largest)
    place = size - k if largest else k - 1
    last = np.partition(x, place, -1)[..., place, None]
    better = (x > last) | (np.isnan(x) & ~np.isnan(last)) if largest else (x < last) | (np.isnan(last) & ~np.isnan(x))
    equal = (x == last) | (np.isnan(x) & np.isnan(last))
    equal &= equal.cumsum(-1, np.int32) <= k - better.sum(-1, keepdims=True)  # the first of them
    chosen = np.flatnonzero(better | equal).reshape(*x.shape[:-1], k) % size
    order = indices_by_sorting(np.take_along_axis(x, chosen, -1), k, largest)
    return np.asarray(np.take_along_axis(chosen, order, -1), np.int64)


def indices_by_sorting(x: Array, k: int, largest: bool) -> Array:
    """Indices of the ``k`` largest or smallest entries along the last axis, of any element type."""
    if largest:  # a stable sort of the reversed axis, read from its end: equals keep their order
        order = x.shape[-1] - 1 - np.flip(np.argsort(np.flip(x, -1), axis=-1, kind="stable"), -1)
    else:
        order = np.argsort(x, axis=-1, kind="stable")
    return np.asarray(order[..., :k], np.int64)
