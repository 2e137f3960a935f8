"""torch.squeeze: axes of size one disappear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.axes import axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import as_array
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.squeeze", "Tensor.squeeze")
class Squeeze(Layer):
    """Drop the axes of size one: those of ``dim`` (others of them stay), or all if there is no ``dim``.

    Source: torch.squeeze.
    """

    is_view = True
    keeps_order = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dims = op.ints_param("dim", None)

    def forward(self, x: Array | float) -> Array:
        return squeeze(as_array(x), self.dims, self.op.where)  # sizes of graphs born from ONNX are plain numbers


def squeeze(x: Array, dims: tuple[int, ...] | None = None, where: str = "squeeze") -> Array:
    """A view of ``x`` without the axes of size one among ``dims``, or without any if ``dims`` is None.

    >>> import numpy as np
    >>> x = np.zeros((2, 1, 3, 1), np.float32)
    >>> squeeze(x).shape, squeeze(x, (0, -1)).shape
    ((2, 3), (2, 1, 3))

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes.
    """
    chosen = range(x.ndim) if dims is None else axes(dims, x.ndim, where)
    return x.squeeze(tuple(dim for dim in chosen if dim < x.ndim and x.shape[dim] == 1))
