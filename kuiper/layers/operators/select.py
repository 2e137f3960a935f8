"""Tensor.select: one index of one axis, which is then gone, or several, which stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import TensorIndexError
from kuiper.layers.axes import along, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.select", "torch.select")
class Select(Layer):
    """``x[:, :, index]`` with ``index`` on axis ``dim``; a view, if it is one number.

    A list of numbers keeps the axis: that is how pnnx writes ONNX's Gather.

    Source: torch.select.
    """

    is_part = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        several = op.has_param("index") and isinstance(op.params["index"].value, (list, tuple))
        self.index = op.ints_param("index") if several else op.int_param("index")

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        if isinstance(self.index, int):
            return select(x, self.dim, self.index, self.op.where)
        dim = axis(self.dim, x.ndim, self.op.where)
        return np.take(x, [position(index, x.shape[dim], self.op.where) for index in self.index], axis=dim)


def select(x: Array, dim: int, index: int, where: str = "select") -> Array:
    """A view of ``x`` at one index of axis ``dim``.

    >>> import numpy as np
    >>> select(np.array([[1, 2, 3], [4, 5, 6]]), -1, 1)
    array([2, 5])

    Raises
    ------
    ShapeError
        If there is no such axis.
    TensorIndexError
        If the axis has no such index.
    """
    dim = axis(dim, x.ndim, where)
    return np.asarray(x[along(dim, position(index, x.shape[dim], where))])


def position(index: int, size: int, where: str) -> int:
    """``index``, which may count from the end, as a position from the start.

    Raises
    ------
    TensorIndexError
        If it lies outside.
    """
    if not -size <= index < size:
        raise TensorIndexError(where, f"an index within {-size}..{size - 1}", index)
    return index % size
