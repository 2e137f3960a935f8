"""aten::sort and aten::argsort: the entries in order, and where they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.topk import topk
from kuiper.layers.registry import register


@register("aten::sort", "aten::argsort")
class Sort(Layer):
    """The entries along ``dim`` from the smallest to the largest, or ``descending``; NaN is the largest of all.

    Operands: the input, then ``dim`` and ``descending``, and in front of these two perhaps ``stable``. Equals keep
    their order in any case. ``argsort`` has the indices only.

    Source: torch.sort, torch.argsort.
    """

    data_inputs = None

    def forward(self, x: Array, *settings: Any) -> Array | tuple[Array, Array]:
        dim, descending = settings[-2:] if len(settings) > 1 else (-1, False)
        rows = np.atleast_1d(x)
        place = axis(int(dim), rows.ndim, self.op.where)
        values, indices = (y.reshape(x.shape) for y in topk(rows, rows.shape[place], place, bool(descending)))
        return indices if self.op.type == "aten::argsort" else (values, indices)
