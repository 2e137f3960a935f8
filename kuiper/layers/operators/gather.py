"""torch.gather and torch.index_select: entries picked along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.embedding import check_indices
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.gather", "Tensor.gather")
class Gather(Layer):
    """With dim = 1: out[i, j, k] = x[i, index[i, j, k], k]; ``index`` may be smaller than ``x`` on the other axes.

    With ``from_end``, which files born from ONNX need, an index may count from the end.

    Source: torch.gather.
    """

    data_inputs = ("input", "self", "index")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        self.from_end = op.bool_param("from_end", False)

    def forward(self, x: Array, index: Array) -> Array:
        dim = axis(self.dim, x.ndim, self.op.where)
        fits = index.ndim == x.ndim and all(
            i <= n for a, (i, n) in enumerate(zip(index.shape, x.shape, strict=True)) if a != dim
        )
        self.expect(fits, f"an index within {x.shape} off axis {dim}", index.shape)
        check_indices(index, x.shape[dim] if x.ndim else 1, self.op.where, from_end=self.from_end)
        if x.ndim == 0:
            return x
        corner = tuple(slice(None) if a == dim else slice(n) for a, n in enumerate(index.shape))
        return np.take_along_axis(x[corner], index, dim)


@register("torch.index_select", "Tensor.index_select")
class IndexSelect(Layer):
    """The entries ``index`` of axis ``dim``, in that order; ``from_end`` as for torch.gather.

    Source: torch.index_select.
    """

    data_inputs = ("input", "self", "index")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        self.from_end = op.bool_param("from_end", False)

    def forward(self, x: Array, index: Array) -> Array:
        self.expect(x.ndim > 0 and index.ndim < 2, "an input with axes and an index with one", (x.shape, index.shape))
        dim = axis(self.dim, x.ndim, self.op.where)
        check_indices(index, x.shape[dim], self.op.where, from_end=self.from_end)
        return np.take(x, index.reshape(-1), axis=dim)
