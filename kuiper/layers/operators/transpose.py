"""torch.transpose and torch.t: two axes change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operand_parameters import OF_A_VIEW
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.transpose", "Tensor.transpose")
class Transpose(Layer):
    """Swap the axes ``dim0`` and ``dim1``; always a view.

    Source: torch.transpose.
    """

    is_view = True
    data_inputs = OF_A_VIEW

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim0 = op.int_param("dim0")
        self.dim1 = op.int_param("dim1")

    def forward(self, x: Array) -> Array:
        return transpose(x, self.dim0, self.dim1, self.op.where)


@register("torch.t", "Tensor.t")
class MatrixTranspose(Layer):
    """A matrix on its side; a vector or a scalar as it is.

    Source: torch.t.
    """

    is_view = True

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (0, 1, 2), "with at most two axes")
        return np.transpose(x)


def transpose(x: Array, dim0: int, dim1: int, where: str = "transpose") -> Array:
    """A view of ``x`` with two axes swapped.

    >>> import numpy as np
    >>> transpose(np.zeros((2, 3, 4), np.float32), 0, -1).shape
    (4, 3, 2)

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes.
    """
    first, second = axis(dim0, x.ndim, where), axis(dim1, x.ndim, where)
    return np.swapaxes(x, first, second) if x.ndim else x
