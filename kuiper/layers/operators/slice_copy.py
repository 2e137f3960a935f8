"""Tensor.slice_copy: x[a:b:c] = source, as a new tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.fill import overwritten
from kuiper.layers.operators.slice import part_of, read_cuts
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.slice_copy", "torch.slice_scatter")
class SliceCopy(Layer):
    """The first input with ``src`` in the place of what Tensor.slice would cut out of it, in either spelling.

    ``src`` broadcasts to that part and takes the element type of the whole. Both inputs are left alone.

    Source: torch.slice_scatter, torch.select_scatter.
    """

    data_inputs = ("self", "input", "src")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dims, self.cuts = read_cuts(op)

    def forward(self, x: Array, source: Array) -> Array:
        whole = np.array(x)
        part = part_of(whole, self.dims, self.cuts, self.op.where)
        part[...] = overwritten(part, source, self.op.where)
        return whole
