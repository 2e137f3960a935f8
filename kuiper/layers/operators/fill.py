"""Tensor.fill and Tensor.copy: a tensor overwritten, as a new tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.clamp import number_param
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.fill")
class Fill(Layer):
    """A tensor of the input's shape and element type, with ``value`` everywhere.

    Source: torch.Tensor.fill_.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.value = number_param(op, "value")
        if self.value is None:
            raise ParameterError(op.where, "a number value", "none")

    def forward(self, x: Array) -> Array:
        return overwritten(x, np.asarray(self.value), self.op.where)


@register("Tensor.copy")
class Copy(Layer):
    """``src`` with the shape and the element type of ``self``, to which it broadcasts.

    Of a ``self`` that is a part of another tensor, PNNX's output is the whole other tensor: the graph has seen to that.

    Source: torch.Tensor.copy_.
    """

    data_inputs = ("self", "src")

    def forward(self, x: Array, source: Array) -> Array:
        return overwritten(x, source, self.op.where)


def overwritten(x: Array, source: Array, where: str) -> Array:
    """What ``x[...] = source`` makes of ``x``, which itself is left alone.

    >>> overwritten(np.zeros((2, 2), np.int64), np.array([1.5, 2.5]), "doc")
    array([[1, 2],
           [1, 2]])

    Raises
    ------
    ShapeError
        If ``source`` does not broadcast to the shape of ``x``.
    """
    try:
        shaped = np.broadcast_to(source, x.shape)
    except ValueError:
        raise ShapeError(where, f"a source that broadcasts to {x.shape}", np.shape(source)) from None
    return shaped.astype(x.dtype)
