"""torch.diag: a vector as a diagonal, or the diagonal of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.diag")
class Diag(Layer):
    """Of a vector the matrix that has it on a diagonal and is 0 elsewhere, of a matrix that diagonal.

    ``diagonal`` counts upwards from the main one.

    Source: torch.diag.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.diagonal = op.int_param("diagonal", 0)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (1, 2), "(n) or (m, n)")
        inside = x.ndim == 1 or -x.shape[0] <= self.diagonal <= x.shape[1]
        self.expect(inside, f"a matrix that has diagonal {self.diagonal}", x.shape)
        return np.array(np.diag(x, self.diagonal))
