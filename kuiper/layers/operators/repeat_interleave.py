"""torch.repeat_interleave: every entry several times in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.repeat_interleave", "Tensor.repeat_interleave")
class RepeatInterleave(Layer):
    """Entry ``i`` of axis ``dim`` ``repeats[i]`` times in a row; without ``dim``, of the flattened input.

    Source: torch.repeat_interleave.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.repeats = op.ints_param("repeats")
        self.dim = op.int_param("dim", None)
        if any(count < 0 for count in self.repeats):
            raise ParameterError(op.where, "repeats >= 0", self.repeats)

    def forward(self, x: Array) -> Array:
        x = x.reshape(-1) if self.dim is None or x.ndim == 0 else x
        dim = 0 if self.dim is None else axis(self.dim, x.ndim, self.op.where)
        fits = len(self.repeats) in (1, x.shape[dim])
        self.expect(fits, f"one or {x.shape[dim]} repeats", self.repeats)
        count = sum(self.repeats) * (x.shape[dim] if len(self.repeats) == 1 else 1)
        check_size((*x.shape[:dim], count, *x.shape[dim + 1 :]), x.itemsize, self.op.where)  # NumPy's product overflows
        return np.repeat(x, self.repeats, axis=dim)
