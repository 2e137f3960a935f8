"""Tensor.unflatten: one axis becomes several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.reshape import completed
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.unflatten", "torch.unflatten", "nn.Unflatten")
class Unflatten(Layer):
    """Split axis ``dim`` into axes of these sizes, one of which may be -1: as many as are left.

    Source: torch.unflatten.
    """

    is_view = True
    keeps_order = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        self.sizes = op.ints_param("unflattened_size" if op.type == "nn.Unflatten" else "sizes")

    def forward(self, x: Array) -> Array:
        return unflatten(x, self.dim, self.sizes, self.op.where)


def unflatten(x: Array, dim: int, sizes: tuple[int, ...], where: str = "unflatten") -> Array:
    """The same values with axis ``dim`` split into axes of these sizes.

    >>> import numpy as np
    >>> unflatten(np.zeros((2, 6, 5), np.float32), 1, (-1, 3)).shape
    (2, 2, 3, 5)

    Raises
    ------
    ShapeError
        If there is no such axis, or the sizes do not multiply to its size.
    """
    split = axis(dim, x.ndim, where)
    size = x.shape[split] if x.ndim else 1
    return x.reshape(*x.shape[:split], *completed(sizes, size, where), *x.shape[split + 1 :])
