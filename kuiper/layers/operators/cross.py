"""torch.cross: the vector that is perpendicular to two others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.cross")
class Cross(Layer):
    """The cross products of vectors of three numbers, which lie along ``dim``: by default the first axis of size 3.

    Source: torch.cross.
    """

    data_inputs = ("input", "self", "other")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", None)

    def forward(self, x: Array, other: Array) -> Array:
        return cross(x, other, self.dim, self.op.where)


def cross(x: Array, y: Array, dim: int | None = None, where: str = "cross") -> Array:
    """x1 y2 - x2 y1 and so on, along ``dim`` of two tensors that broadcast.

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])

    Raises
    ------
    ShapeError
        If the inputs do not broadcast, or there are not three numbers along ``dim``.
    """
    dtype = promoted([x, y])
    try:
        x, y = np.broadcast_arrays(x.astype(dtype, copy=False), y.astype(dtype, copy=False))
    except ValueError:
        raise ShapeError(where, "inputs that broadcast", (x.shape, y.shape)) from None
    threes = [k for k, size in enumerate(x.shape) if size == 3]
    if not threes or (dim is not None and axis(dim, x.ndim, where) not in threes):
        raise ShapeError(where, f"three numbers along dim={dim}", x.shape)
    along = threes[0] if dim is None else axis(dim, x.ndim, where)
    next_x, next_y = np.roll(x, -1, along), np.roll(y, -1, along)
    return np.asarray(np.roll(x * next_y - next_x * y, -1, along))
