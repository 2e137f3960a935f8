"""Tensor.permute: the axes in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operand_parameters import OF_A_VIEW
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.permute", "torch.permute")
class Permute(Layer):
    """Axis ``i`` of the output is axis ``dims[i]`` of the input; always a view.

    Source: torch.permute.
    """

    is_view = True
    data_inputs = OF_A_VIEW

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dims = op.ints_param("dims", ())

    def forward(self, x: Array) -> Array:
        return permute(x, self.dims, self.op.where)


def permute(x: Array, dims: tuple[int, ...], where: str = "permute") -> Array:
    """A view of ``x`` with its axes in this order.

    >>> import numpy as np
    >>> permute(np.zeros((2, 3, 4), np.float32), (-1, 0, 1)).shape
    (4, 2, 3)

    Raises
    ------
    ShapeError
        If ``dims`` does not name each axis of ``x`` once.
    """
    if len(dims) != x.ndim:
        raise ShapeError(where, f"{x.ndim} dims for input {x.shape}", dims)
    return np.transpose(x, axes(dims, x.ndim, where))
