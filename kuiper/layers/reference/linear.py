"""The linear layer as three nested loops, in double precision. The reference of the matrix product behind it."""

from __future__ import annotations

import numpy as np


def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """``x`` (rows, in_features) times ``weight`` (out_features, in_features), plus ``bias``."""
    out = np.zeros((len(x), len(weight)))
    for row, o in np.ndindex(out.shape):
        for i in range(weight.shape[1]):
            out[row, o] += float(x[row, i]) * float(weight[o, i])
        if bias is not None:
            out[row, o] += bias[o]
    return out.astype(np.float32)
