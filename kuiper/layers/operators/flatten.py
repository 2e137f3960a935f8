"""torch.flatten: several axes become one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.flatten", "nn.Flatten")
class Flatten(Layer):
    """Merge the axes from ``start_dim`` to ``end_dim``, both included; a view where the memory allows it.

    Source: torch.flatten.
    """

    is_view = True
    keeps_order = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.start_dim = op.int_param("start_dim", 1 if op.type == "nn.Flatten" else 0)
        self.end_dim = op.int_param("end_dim", -1)

    def forward(self, x: Array) -> Array:
        return flatten(x, self.start_dim, self.end_dim, self.op.where)


def flatten(x: Array, start_dim: int = 0, end_dim: int = -1, where: str = "flatten") -> Array:
    """The same values with axes ``start_dim..end_dim`` merged into one.

    >>> import numpy as np
    >>> flatten(np.zeros((2, 3, 4, 5), np.float32), 1, 2).shape
    (2, 12, 5)
    """
    rank = max(x.ndim, 1)
    first, last = start_dim % rank, end_dim % rank
    if not (-rank <= start_dim < rank and -rank <= end_dim < rank and first <= last):
        expected = f"start_dim <= end_dim within {-rank}..{rank - 1}"
        raise ShapeError(where, expected, f"start_dim={start_dim}, end_dim={end_dim} for input {x.shape}")
    if x.ndim == 0:
        return x.reshape(1)
    return x.reshape(*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :])
