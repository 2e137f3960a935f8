"""Tensor.unfold: overlapping stretches of one axis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.axes import along, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import create, register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.unfold")
class Unfold(Layer):
    """All stretches of ``size`` entries of axis ``dimension``, ``step`` apart; their entries are a new last axis.

    Source: torch.Tensor.unfold.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim, self.size, self.step = (op.int_param(key) for key in ("dimension", "size", "step"))
        if self.size < 0 or self.step < 1:
            raise ParameterError(op.where, "size >= 0 and step >= 1", (self.size, self.step))

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        return unfold(x, self.dim, self.size, self.step, self.op.where)


@register("aten::unfold")
def unfold_of_operands(op: RuntimeOperator) -> Layer:
    """The same in TorchScript's spelling, where the three numbers are operands without names."""
    return create(replace(op, type="Tensor.unfold", input_names=["input", "dimension", "size", "step"]))


def unfold(x: Array, dim: int, size: int, step: int, where: str = "unfold") -> Array:
    """A read-only view of the stretches: axis ``dim`` counts them, the last axis runs through each.

    >>> unfold(np.array([1, 2, 3, 4, 5]), 0, 3, 2)
    array([[1, 2, 3],
           [3, 4, 5]])

    Raises
    ------
    ShapeError
        If there is no such axis, or it is shorter than a stretch.
    """
    dim = axis(dim, x.ndim, where)
    if size > x.shape[dim]:
        raise ShapeError(where, f"size <= {x.shape[dim]}", size)
    stretches = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)
    return np.asarray(stretches[along(dim, slice(None, None, step))])
