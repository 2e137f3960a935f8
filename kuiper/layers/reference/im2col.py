"""im2col by its definition: every output pixel, every entry of the kernel. The reference of ``kernels/im2col.pyx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.window import Window


def im2col(image: np.ndarray, window: Window) -> np.ndarray:
    """The columns (c * kernel_h * kernel_w, out_h, out_w) of an ``image`` (c, h, w)."""
    c, h, w = image.shape
    columns = np.zeros((c, *window.kernel, *window.output_size((h, w))), image.dtype)
    for ky, kx, oy, ox in np.ndindex(columns.shape[1:]):
        y = oy * window.stride[0] - window.before[0] + ky * window.dilation[0]
        x = ox * window.stride[1] - window.before[1] + kx * window.dilation[1]
        if 0 <= y < h and 0 <= x < w:
            columns[:, ky, kx, oy, ox] = image[:, y, x]
    return columns.reshape(-1, *columns.shape[3:])
