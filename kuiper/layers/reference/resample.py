"""Resampling by tables, one output after the other. The reference of ``operators/upsample.py``."""

from __future__ import annotations

import numpy as np

Table = tuple[np.ndarray, np.ndarray]


def take_nearest(x: np.ndarray, row_indices: np.ndarray, column_indices: np.ndarray) -> np.ndarray:
    """``x`` (planes, h, w) at these rows and columns."""
    return x[:, row_indices][:, :, column_indices]


def blend(x: np.ndarray, rows: Table, columns: Table) -> np.ndarray:
    """Weighted sums of neighbours; a table is (indices, weights), both (taps, outputs)."""
    (row_indices, row_weights), (column_indices, column_weights) = rows, columns
    taps, out_h = row_indices.shape
    out = np.zeros((len(x), out_h, column_indices.shape[1]))
    for oy, ox, ky, kx in np.ndindex(*out.shape[1:], taps, taps):
        pixel = x[:, row_indices[ky, oy], column_indices[kx, ox]]
        out[:, oy, ox] += float(row_weights[ky, oy]) * float(column_weights[kx, ox]) * pixel
    return out.astype(np.float32)
