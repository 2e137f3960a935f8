"""torch.meshgrid: coordinates of a grid from coordinates along its axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.cat import listed
from kuiper.layers.pieces import for_outputs
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("aten::meshgrid", "torch.meshgrid")
class Meshgrid(Layer):
    """For vectors of sizes a, b, ... one grid (a, b, ...) each, in which only its own axis varies.

    ``indexing="xy"`` swaps the first two axes. TorchScript gives the vectors as a list, and the word behind it.

    Source: torch.meshgrid.
    """

    data_inputs = ("tensors", "indexing")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.indexing = op.str_param("indexing", "ij")

    def forward(self, *inputs: Any) -> Array | tuple[Array, ...]:
        words = [item for item in inputs if isinstance(item, str)]
        indexing = words[0] if words else self.indexing
        if indexing not in ("ij", "xy"):
            raise self.unsupported('indexing "ij" or "xy"', indexing)
        vectors = listed(tuple(item for item in inputs if not isinstance(item, str)))
        self.expect(all(vector.ndim < 2 for vector in vectors), "vectors", [vector.shape for vector in vectors])
        open_grids = np.ix_(*(vector.reshape(-1) for vector in vectors))
        shape = np.broadcast_shapes(*(grid.shape for grid in open_grids))
        grids = tuple(np.broadcast_to(grid, shape) for grid in open_grids)
        return for_outputs(self.op, tuple(g.swapaxes(0, 1) if indexing == "xy" and g.ndim > 1 else g for g in grids))
