"""The transposed convolution as seven nested loops, in double precision. The reference of a product with col2im."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.window import Window


def conv_transpose2d(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    window: Window,
    size: tuple[int, int],
    groups: int = 1,
) -> np.ndarray:
    """The outputs (n, o, *size) of ``x`` (n, c, h, w) and ``weight`` (c, o / groups, kernel_h, kernel_w)."""
    n, c, h, w = x.shape
    depth = weight.shape[1]
    out = np.zeros((n, depth * groups, *size))
    if bias is not None:
        out += bias[:, None, None]
    for i, k, iy, ix in np.ndindex(n, c, h, w):
        first = k // (c // groups) * depth  # the first output channel of k's group
        for o, ky, kx in np.ndindex(depth, *window.kernel):
            oy = iy * window.stride[0] - window.before[0] + ky * window.dilation[0]
            ox = ix * window.stride[1] - window.before[1] + kx * window.dilation[1]
            if 0 <= oy < size[0] and 0 <= ox < size[1]:
                out[i, first + o, oy, ox] += float(weight[k, o, ky, kx]) * float(x[i, k, iy, ix])
    return out.astype(np.float32)
