"""im2col by its definition: every output pixel, every entry of the kernel. The twin of ``kernels/im2col.pyx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.convolution import Stencil


def im2col(image: np.ndarray, stencil: Stencil) -> np.ndarray:
    """The columns (c * kernel_h * kernel_w, out_h, out_w) of an ``image`` (c, h, w)."""
    c, h, w = image.shape
    columns = np.zeros((c, *stencil.kernel, *stencil.output_size(h, w)), image.dtype)
    for ky, kx, oy, ox in np.ndindex(columns.shape[1:]):
        y = oy * stencil.stride[0] - stencil.before[0] + ky * stencil.dilation[0]
        x = ox * stencil.stride[1] - stencil.before[1] + kx * stencil.dilation[1]
        if 0 <= y < h and 0 <= x < w:
            columns[:, ky, kx, oy, ox] = image[:, y, x]
    return columns.reshape(-1, *columns.shape[3:])
