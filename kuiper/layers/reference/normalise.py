"""Normalisation by the input's own statistics, in double precision. The reference of ``kernels/normalise.pyx``."""

from __future__ import annotations

import numpy as np


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """Each row of ``x`` (rows, size) with mean 0 and variance 1, times ``weight`` (size) plus ``bias`` (size)."""
    y = np.empty(x.shape)
    for r, row in enumerate(x.astype(np.float64)):
        y[r] = (row - row.mean()) / np.sqrt(row.var() + eps) * weight + bias
    return y


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    """Each row of ``x`` (rows, size) divided by its root mean square, times ``weight`` (size)."""
    y = np.empty(x.shape)
    for r, row in enumerate(x.astype(np.float64)):
        y[r] = row / np.sqrt((row**2).mean() + eps) * weight
    return y


def group_norm(x: np.ndarray, groups: int, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """Each group of channels of ``x`` (n, c, inner) with mean 0 and variance 1, times weight plus bias (c)."""
    y = np.empty(x.shape)
    members = x.shape[1] // groups
    for n, g in np.ndindex(x.shape[0], groups):
        channels = slice(g * members, (g + 1) * members)
        group = x[n, channels].astype(np.float64)
        normal = (group - group.mean()) / np.sqrt(group.var() + eps)
        y[n, channels] = normal * weight[channels, None] + bias[channels, None]
    return y
