"""torch.flip: axes in reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axes
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.flip", "Tensor.flip")
class Flip(Layer):
    """The input with the axes ``dims`` running backwards; always a view.

    Source: torch.flip.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dims = op.ints_param("dims", ())

    def forward(self, x: Array) -> Array:
        return np.flip(x, axes(self.dims, x.ndim, self.op.where)) if x.ndim else x
