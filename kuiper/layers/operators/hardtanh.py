"""nn.Hardtanh: numbers kept within two limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.elementwise import Elementwise, elementwise
from kuiper.layers.kernels import activations
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("nn.Hardtanh", "F.hardtanh")
class Hardtanh(Elementwise):
    """``min(max(x, min_val), max_val)``; whole numbers stay whole.

    Source: torch.nn.functional.hardtanh.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.min_val = op.float_param("min_val", -1.0)
        self.max_val = op.float_param("max_val", 1.0)

    def forward(self, x: Array) -> Array:
        return hardtanh(x, self.min_val, self.max_val, self.op.where)


def hardtanh(x: Array, min_val: float = -1.0, max_val: float = 1.0, where: str = "hardtanh") -> Array:
    """``min(max(x, min_val), max_val)`` of each number, in the type of ``x``; NaN stays NaN.

    >>> hardtanh(np.float32([-2, 0.5, 3]))
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    if x.dtype.kind == "i":
        clipped: Array = np.clip(x, int(min_val), int(max_val))
        return clipped
    return elementwise(activations.hardtanh, x, min_val, max_val, where=where)
