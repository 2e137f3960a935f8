"""The logarithm of the gamma function, which NumPy lacks: the C library's, number by number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


def lgamma(x: Array | float) -> Array:
    """log |gamma(x)| for each x; inf at 0, -1, -2 and so on.

    Source: torch.lgamma.

    >>> lgamma(np.array([1, 4, 0.5, -1], np.float32))
    array([0.       , 1.7917595, 0.5723649,       inf], dtype=float32)
    """
    x = np.asarray(x)
    return np.asarray(_lgamma_of_numbers(x.astype(np.float64)), np.float64).astype(x.dtype, copy=False)


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


_lgamma_of_numbers = np.frompyfunc(_lgamma, 1, 1)
