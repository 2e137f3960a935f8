"""col2im by its definition: every entry of every column. The reference of ``kernels/col2im.pyx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.window import Window


def col2im(columns: np.ndarray, window: Window, h: int, w: int) -> np.ndarray:
    """The image (c, h, w) on whose pixels the ``columns`` (c * kernel_h * kernel_w, grid_h, grid_w) add up."""
    entries = columns.reshape(-1, *window.kernel, *columns.shape[1:])
    image = np.zeros((len(entries), h, w), columns.dtype)
    for ky, kx, grid_y, grid_x in np.ndindex(entries.shape[1:]):
        y = grid_y * window.stride[0] - window.before[0] + ky * window.dilation[0]
        x = grid_x * window.stride[1] - window.before[1] + kx * window.dilation[1]
        if 0 <= y < h and 0 <= x < w:
            image[:, y, x] += entries[:, ky, kx, grid_y, grid_x]
    return image
