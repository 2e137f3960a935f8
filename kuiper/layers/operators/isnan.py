"""aten::isnan, aten::isinf and ONNX's IsNaN, IsInf: what is no finite number."""

from __future__ import annotations

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("aten::isnan", "IsNaN")
class IsNaN(Layer):
    """True where the input is no number.

    Source: torch.isnan.
    """

    def forward(self, x: Array) -> Array:
        return np.asarray(np.isnan(x))


@register("aten::isinf", "IsInf")
class IsInf(Layer):
    """True where the input is infinite; in ONNX one of the two infinities may not count.

    Source: torch.isinf; ONNX, IsInf.
    """

    def forward(self, x: Array) -> Array:
        if self.op.type == "aten::isinf":
            return np.asarray(np.isinf(x))
        below = np.isneginf(x) & self.op.bool_param("detect_negative", True)
        return np.asarray(below | (np.isposinf(x) & self.op.bool_param("detect_positive", True)))
