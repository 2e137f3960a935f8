"""Max pooling by its definition: look at every pixel of every window. The reference of ``kernels/max_pooling.pyx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.window import Window


def max_pool(x: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Maxima and flat indices (planes, out_h, out_w) of all windows on ``x`` (planes, h, w).

    A pixel takes the lead if it is larger than all before it, or NaN.
    """
    planes, h, w = x.shape
    out_h, out_w = window.output_size((h, w))
    out = np.full((planes, out_h, out_w), -np.inf, np.float32)
    indices = np.full((planes, out_h, out_w), -1, np.int64)
    for p, oy, ox in np.ndindex(out.shape):
        for ky, kx in np.ndindex(*window.kernel):
            y = oy * window.stride[0] - window.before[0] + ky * window.dilation[0]
            ix = ox * window.stride[1] - window.before[1] + kx * window.dilation[1]
            if 0 <= y < h and 0 <= ix < w:
                is_first, value = indices[p, oy, ox] < 0, x[p, y, ix]
                if is_first or value > out[p, oy, ox] or np.isnan(value):
                    out[p, oy, ox], indices[p, oy, ox] = value, y * w + ix
    return out, indices
