"""Average pooling by its definition. The reference of ``operators/avg_pool2d.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.window import Window


def average_pool(x: np.ndarray, window: Window, count_include_pad: bool, divisor_override: int | None) -> np.ndarray:
    """The means (planes, out_h, out_w) of all windows on ``x`` (planes, h, w), in double precision."""
    planes, h, w = x.shape
    pad_h, pad_w = window.before
    out_h, out_w = window.output_size((h, w))
    padded = np.zeros((planes, h + 2 * pad_h, w + 2 * pad_w))
    padded[:, pad_h : pad_h + h, pad_w : pad_w + w] = x
    counts = np.full((h + 2 * pad_h, w + 2 * pad_w), float(count_include_pad))
    counts[pad_h : pad_h + h, pad_w : pad_w + w] = 1
    out = np.empty((planes, out_h, out_w))
    for oy, ox in np.ndindex(out_h, out_w):
        top, left = oy * window.stride[0], ox * window.stride[1]
        rows, columns = slice(top, top + window.kernel[0]), slice(left, left + window.kernel[1])
        divisor = counts[rows, columns].sum() if divisor_override is None else divisor_override
        out[:, oy, ox] = padded[:, rows, columns].sum((1, 2)) / divisor
    return out.astype(np.float32)
