"""The activations by their definitions, in double precision: what ``kuiper/simd/activations.h`` computes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_erf = np.vectorize(math.erf, otypes=[np.float64])

FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x, negative_slope: np.where(x > 0, x, negative_slope * x),
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "elu": lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x)),
    "celu": lambda x, alpha, inner: np.where(x > 0, x, alpha * np.expm1(inner * x)),
    "selu": lambda x, positive, negative: np.where(x > 0, positive * x, negative * np.expm1(x)),
    "hardsigmoid": lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6,
    "hardswish": lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "logsigmoid": lambda x: -np.logaddexp(0, -x),
    "tanh": np.tanh,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "softplus": lambda x, beta, threshold: np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "hardshrink": lambda x, lambd: np.where(np.abs(x) <= lambd, 0, x),
    "softshrink": lambda x, lambd: np.where(np.abs(x) <= lambd, 0, x - np.copysign(lambd, x)),
    "threshold": lambda x, limit, value: np.select([x <= limit], [value], x),
}
