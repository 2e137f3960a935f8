"""The reference implementations of elementwise.pyx: one number after the other, the index arithmetic in plain sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a + b`` with the shapes broadcast."""
    return broadcast(lambda x, y: x + y, a, b)


def sub(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a - b`` with the shapes broadcast."""
    return broadcast(lambda x, y: x - y, a, b)


def mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a * b`` with the shapes broadcast."""
    return broadcast(lambda x, y: x * y, a, b)


def div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a / b`` with the shapes broadcast."""
    return broadcast(lambda x, y: x / y, a, b)


def broadcast(fn: Callable[[np.float32, np.float32], np.float32], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``fn`` of the two values that meet at each index."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.float32)
    for index in np.ndindex(out.shape):
        out[index] = fn(a[standing_still(index, a.shape)], b[standing_still(index, b.shape)])
    return out


def standing_still(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The last parts of the index, one for each axis of the shape, but 0 on an axis of length 1.

    >>> standing_still((1, 2, 3, 4), (3, 1, 5))
    (2, 0, 4)
    """
    last = index[len(index) - len(shape) :]
    return tuple(0 if length == 1 else i for i, length in zip(last, shape, strict=True))


def axpy(a: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``a * x + y``, rounded once at the end."""
    out = np.empty(x.shape, np.float32)
    for index in np.ndindex(x.shape):
        out[index] = float(np.float32(a)) * float(x[index]) + float(y[index])
    return out


def exp_negative(x: np.ndarray) -> np.ndarray:
    """``exp(-x)``, rounded once at the end; beyond the range of float32 it is infinity."""
    out = np.empty(x.shape, np.float32)
    with np.errstate(over="ignore"):
        for index in np.ndindex(x.shape):
            out[index] = np.exp(-np.float64(x[index]))
    return out
