"""col2im by its definition: every entry of every column. The twin of ``kernels/col2im.pyx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.convolution import Stencil


def col2im(columns: np.ndarray, stencil: Stencil, h: int, w: int) -> np.ndarray:
    """The image (c, h, w) on whose pixels the ``columns`` (c * kernel_h * kernel_w, grid_h, grid_w) add up."""
    entries = columns.reshape(-1, *stencil.kernel, *columns.shape[1:])
    image = np.zeros((len(entries), h, w), columns.dtype)
    for ky, kx, grid_y, grid_x in np.ndindex(entries.shape[1:]):
        y = grid_y * stencil.stride[0] - stencil.before[0] + ky * stencil.dilation[0]
        x = grid_x * stencil.stride[1] - stencil.before[1] + kx * stencil.dilation[1]
        if 0 <= y < h and 0 <= x < w:
            image[:, y, x] += entries[:, ky, kx, grid_y, grid_x]
    return image
