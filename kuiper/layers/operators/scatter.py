"""torch.scatter_add and aten::scatter: entries of one tensor added to, or written at, named places of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.embedding import check_indices
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.scatter_add", "torch.scatter")
class Scatter(Layer):
    """With dim = 1: out[i, index[i, j, k], k] = src[i, j, k], or += for scatter_add; elsewhere out is the input.

    ``index`` may be smaller than ``src`` on any axis, and than the input on all axes but ``dim``. Of scatter, ``src``
    may be one number. The inputs are left alone.

    Source: torch.scatter, torch.scatter_add.
    """

    data_inputs = ("input", "self", "index", "src")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        self.add = op.type.endswith("_add")

    def forward(self, x: Array, index: Array, source: Array | float) -> Array:
        return scatter(x, self.dim, index, source, self.add, self.op.where)


def scatter(
    x: Array, dim: int, index: Array, source: Array | float, add: bool = False, where: str = "scatter"
) -> Array:
    """A copy of ``x`` with the entries of ``source`` at the places that ``index`` names along ``dim``, or added there.

    >>> scatter(np.zeros((2, 3)), 1, np.array([[2, 2]]), np.array([[5.0, 7.0]]), add=True)
    array([[ 0.,  0., 12.],
           [ 0.,  0.,  0.]])

    Raises
    ------
    ShapeError
        If ``index`` reaches beyond ``source``, or beyond ``x`` off ``dim``.
    DataTypeError
        If ``index`` holds no integers, or ``source`` is of another type than ``x``.
    TensorIndexError
        If an index lies outside.
    """
    dim, values = axis(dim, x.ndim, where), np.asarray(source)
    if values.ndim and values.dtype != x.dtype:
        raise DataTypeError(where, f"a source of the input's type {x.dtype}", values.dtype)
    limits = [index.shape[a] if a == dim else n for a, n in enumerate(x.shape)] if index.ndim == x.ndim else None
    source_shape = index.shape if values.ndim == 0 else values.shape
    result = np.array(x)
    if index.size == 0:
        return result
    if limits is None or len(source_shape) != x.ndim or any(np.greater(index.shape, np.minimum(limits, source_shape))):
        raise ShapeError(
            where, f"an index within {x.shape} off dim {dim} and within the source {source_shape}", index.shape
        )
    check_indices(index, x.shape[dim], where, from_end=True)  # ONNX counts from the end, too
    places: list[Array] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    taken = values if values.ndim == 0 else values[tuple(slice(n) for n in index.shape)]
    if add:
        np.add.at(result, tuple(places), taken)
    else:
        result[tuple(places)] = taken
    return result
