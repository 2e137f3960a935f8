"""torch.unbind: the entries of one axis, each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.pieces import check_count, for_outputs
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.unbind", "Tensor.unbind")
class Unbind(Layer):
    """One output for each entry of axis ``dim``, which is gone from them; views.

    Source: torch.unbind.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", 0)

    def forward(self, x: Array) -> Array | tuple[Array, ...]:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        front = np.moveaxis(x, axis(self.dim, x.ndim, self.op.where), 0)
        check_count(len(front), self.op.where)
        return for_outputs(self.op, tuple(front[i, ...] for i in range(len(front))))
