"""Tensor.repeat and torch.tile: copies of a tensor side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.repeat", "torch.tile", "Tensor.tile")
class Repeat(Layer):
    """The input ``sizes[i]`` times along axis ``i``; new axes come in front.

    ``tile`` may name fewer axes than the input has, ``repeat`` may not.

    Source: torch.Tensor.repeat, torch.tile.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.is_tile = op.type.endswith("tile")
        self.sizes = op.ints_param("dims" if self.is_tile else "sizes", ())
        if any(size < 0 for size in self.sizes):
            raise ParameterError(op.where, "sizes >= 0", self.sizes)

    def forward(self, x: Array) -> Array:
        self.expect(self.is_tile or len(self.sizes) >= x.ndim, f"at least {x.ndim} sizes for {x.shape}", self.sizes)
        axes = max(x.ndim, len(self.sizes))
        old, times = ((1,) * (axes - len(sizes)) + sizes for sizes in (x.shape, self.sizes))
        # NumPy's own product of sizes would overflow
        check_size([size * count for size, count in zip(old, times, strict=True)], x.itemsize, self.op.where)
        return np.tile(x, self.sizes)
