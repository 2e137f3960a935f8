"""The convolution as seven nested loops, in double precision: the reference of all convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.window import Window


def conv2d(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, window: Window, groups: int = 1) -> np.ndarray:
    """The images ``x`` (n, c, h, w) filtered by ``weight`` (o, c / groups, kernel_h, kernel_w)."""
    n, _, h, w = x.shape
    o, depth, kernel_h, kernel_w = weight.shape
    out = np.zeros((n, o, *window.output_size((h, w))))
    for i, k, oy, ox in np.ndindex(out.shape):
        first = k // (o // groups) * depth  # the first channel of k's group
        for c, ky, kx in np.ndindex(depth, kernel_h, kernel_w):
            iy = oy * window.stride[0] - window.before[0] + ky * window.dilation[0]
            ix = ox * window.stride[1] - window.before[1] + kx * window.dilation[1]
            if 0 <= iy < h and 0 <= ix < w:
                out[i, k, oy, ox] += float(weight[k, c, ky, kx]) * float(x[i, first + c, iy, ix])
        if bias is not None:
            out[i, k, oy, ox] += bias[k]
    return out.astype(np.float32)
