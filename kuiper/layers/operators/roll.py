"""torch.roll: entries move along, and what falls off one end comes in at the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.roll", "Tensor.roll")
class Roll(Layer):
    """Axis ``dims[i]`` moved on by ``shifts[i]``; without ``dims`` the flattened input is.

    Source: torch.roll.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.shifts = op.ints_param("shifts")
        self.dims = op.ints_param("dims", ())
        if len(self.shifts) != (len(self.dims) or 1):
            raise ParameterError(op.where, f"{len(self.dims) or 1} shifts", self.shifts)

    def forward(self, x: Array) -> Array:
        if not self.dims:
            return np.roll(x, self.shifts[0])
        return np.roll(x, self.shifts, tuple(axis(dim, x.ndim, self.op.where) for dim in self.dims))
