"""The convolution as seven nested loops, in double precision. The twin of im2col with a product and of depthwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.convolution import Stencil


def conv2d(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, stencil: Stencil, groups: int = 1) -> np.ndarray:
    """The images ``x`` (n, c, h, w) filtered by ``weight`` (o, c / groups, kernel_h, kernel_w)."""
    n, _, h, w = x.shape
    o, depth, kernel_h, kernel_w = weight.shape
    out = np.zeros((n, o, *stencil.output_size(h, w)))
    for i, k, oy, ox in np.ndindex(out.shape):
        first = k // (o // groups) * depth  # the first channel of k's group
        for c, ky, kx in np.ndindex(depth, kernel_h, kernel_w):
            iy = oy * stencil.stride[0] - stencil.before[0] + ky * stencil.dilation[0]
            ix = ox * stencil.stride[1] - stencil.before[1] + kx * stencil.dilation[1]
            if 0 <= iy < h and 0 <= ix < w:
                out[i, k, oy, ox] += float(weight[k, c, ky, kx]) * float(x[i, first + c, iy, ix])
        if bias is not None:
            out[i, k, oy, ox] += bias[k]
    return out.astype(np.float32)
