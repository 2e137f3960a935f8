"""aten::nonzero and ONNX's NonZero: where the entries are that are not 0."""

from __future__ import annotations

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("aten::nonzero", "NonZero")
class NonZero(Layer):
    """The places in C order, int64: a row for each in torch, (count, axes), a column in ONNX, (axes, count).

    Source: torch.nonzero; ONNX, NonZero.
    """

    def forward(self, x: Array) -> Array:
        rows = np.argwhere(x).astype(np.int64, copy=False)
        return rows if self.op.type == "aten::nonzero" else np.ascontiguousarray(rows.T)
