"""Functions with a weight for each channel, a channel at a time. The reference of ``kernels/channelwise.pyx``."""

from __future__ import annotations

import numpy as np


def scale_shift(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """``x`` (n, c, inner) times ``scale`` (c) plus ``shift`` (c)."""
    y = np.empty(x.shape)
    for c in range(x.shape[1]):
        y[:, c] = scale[c] * x[:, c] + shift[c]
    return y


def prelu(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """``x`` (n, c, inner) where it is positive, else times ``slope`` (c)."""
    y = np.empty(x.shape)
    for c in range(x.shape[1]):
        y[:, c] = np.where(x[:, c] > 0, x[:, c], slope[c] * x[:, c])
    return y
