"""Softmax and log-softmax, one row at a time, in double precision. Reference of ``operators/softmax.py``."""

from __future__ import annotations

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Over axis 1 of ``x`` (outer, size, inner)."""
    y = np.empty(x.shape)
    for o, i in np.ndindex(x.shape[0], x.shape[2]):
        shares = np.exp(x[o, :, i] - x[o, :, i].max())
        y[o, :, i] = shares / shares.sum()
    return y


def log_softmax(x: np.ndarray) -> np.ndarray:
    """Over axis 1 of ``x`` (outer, size, inner)."""
    y = np.empty(x.shape)
    for o, i in np.ndindex(x.shape[0], x.shape[2]):
        below_top = x[o, :, i] - x[o, :, i].max()
        y[o, :, i] = below_top - np.log(np.exp(below_top).sum())
    return y
