"""aten::tril, aten::triu and ONNX's Trilu: one half of matrices, zeros in the other."""

from __future__ import annotations

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("aten::tril", "aten::triu", "Trilu")
class Tril(Layer):
    """The lower or the upper triangle of the last two axes; ``diagonal`` counts up from the main one.

    Source: torch.tril, torch.triu; ONNX, Trilu.
    """

    data_inputs = None

    def forward(self, x: Array, diagonal: int | Array = 0) -> Array:
        self.expect(x.ndim >= 2, "input with two axes or more", x.shape)
        upper = self.op.bool_param("upper", True) if self.op.type == "Trilu" else self.op.type.endswith("triu")
        return np.triu(x, int(diagonal)) if upper else np.tril(x, int(diagonal))
