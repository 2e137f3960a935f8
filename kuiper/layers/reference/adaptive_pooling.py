"""Adaptive average pooling by its definition. The reference of ``operators/adaptive_avg_pool2d.py``."""

from __future__ import annotations

import math

import numpy as np


def adaptive_average(x: np.ndarray, output_size: tuple[int, int]) -> np.ndarray:
    """The means (planes, *output_size) of windows that share out ``x`` (planes, h, w), in double precision."""
    planes, h, w = x.shape
    out_h, out_w = output_size
    out = np.empty((planes, out_h, out_w))
    for oy, ox in np.ndindex(out_h, out_w):
        rows = slice(math.floor(oy * h / out_h), math.ceil((oy + 1) * h / out_h))
        columns = slice(math.floor(ox * w / out_w), math.ceil((ox + 1) * w / out_w))
        out[:, oy, ox] = x[:, rows, columns].mean((1, 2), dtype=np.float64)
    return out.astype(np.float32)
