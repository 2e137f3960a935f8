"""Arrays as JSON: base64 with a shape, as whole float32 numbers or as bytes between the smallest and the largest."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.layer import Array

Table = dict[str, Any]
"""An object of the page's data."""

_DIGITS = 7  # what float32 has


def floats(array: Array) -> Table:
    """The numbers themselves, in float32.

    >>> floats(np.float32([[1, 2]]))
    {'kind': 'f32', 'shape': [1, 2], 'data': 'AACAPwAAAEA='}
    """
    numbers = np.ascontiguousarray(array, "<f4")
    return {"kind": "f32", "shape": list(array.shape), "data": base64.b64encode(numbers.tobytes()).decode()}


def levels(array: Array, low: float, high: float) -> Array:
    """Bytes 0 to 255 for numbers from ``low`` to ``high``; NaN becomes 0, and what is outside the nearer end.

    >>> levels(np.float32([0, 1, 2, np.nan, np.inf]), 0.0, 2.0).tolist()
    [0, 128, 255, 0, 255]
    """
    scale = 255 / (high - low) if high > low else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.clip((np.asarray(array, np.float64) - low) * scale, 0, 255)
    bytes_: Array = np.rint(np.nan_to_num(scaled, nan=0.0)).astype(np.uint8)
    return bytes_


def as_levels(array: Array, low: float, high: float) -> Table:
    """The bytes that ``levels`` has made of numbers from ``low`` to ``high``."""
    data = base64.b64encode(array.tobytes()).decode()
    return {"kind": "u8", "shape": list(array.shape), "low": number(low), "high": number(high), "data": data}


def encoded_bytes(count: int, itemsize: int) -> int:
    """Characters of this many numbers in base64.

    >>> encoded_bytes(3, itemsize=4)
    16
    """
    return -(-count * itemsize // 3) * 4


def number(value: Any) -> float | None:
    """A number for JSON, which has neither NaN nor infinities: None in their place; seven digits.

    >>> number(1 / 3), number(float("nan")), number(2)
    (0.3333333, None, 2.0)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")
