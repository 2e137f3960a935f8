"""torch.unsqueeze: a new axis of size one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.unsqueeze", "Tensor.unsqueeze")
class Unsqueeze(Layer):
    """A view whose axis ``dim`` is new and has size one; -1 puts it last. A plain number becomes a vector of one.

    Source: torch.unsqueeze.
    """

    is_view = True
    keeps_order = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")

    def forward(self, x: Array | float) -> Array:
        return np.expand_dims(x, axis(self.dim, np.ndim(x) + 1, self.op.where))
