"""ONNX's Det: determinants."""

from __future__ import annotations

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("Det")
class OnnxDet(Layer):
    """The determinant of each matrix of a stack.

    Source: ONNX, Det.
    """

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim > 1 and x.shape[-1] == x.shape[-2], "square matrices (..., m, m)", x.shape)
        return np.asarray(np.linalg.det(x), x.dtype)
