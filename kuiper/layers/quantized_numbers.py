"""Numbers as bytes, ``q = round(x / scale) + zero_point``, and products of bytes as integers without a rounding.

    bytes (m, k) @ bytes (k, n)    every product is below 2**16, and this many of them add up to less than 2**24, up to
                                   where float32 has every integer: a product of float32 matrices is exact

All rounding is that of onnxruntime's kernels: in float32, half to even.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.gemm import matmul, pack_right

if TYPE_CHECKING:
    from collections.abc import Callable

    from kuiper.layers.layer import Array

EXACT = 1 << 24
"""Integers below are float32 numbers."""

_MAX_BYTE = 255


class Quantized(NamedTuple):
    """Bytes, and what they stand for: ``(numbers - zero_point) * scale``."""

    numbers: Array
    scale: np.float32
    zero_point: int

    def centred(self) -> Array:
        """The bytes less their zero point, as floats."""
        return np.asarray(self.numbers.astype(np.float32) - np.float32(self.zero_point))

    def dequantized(self) -> Array:
        """What the bytes stand for.

        >>> Quantized(np.uint8([130, 127]), np.float32(0.5), 128).dequantized()
        array([ 1. , -0.5], dtype=float32)
        """
        return np.asarray(self.centred() * self.scale)


def quantize(x: Array, scale: np.float32, zero_point: int, dtype: np.dtype) -> Array:
    """Floats as bytes of a type; what is too large becomes the largest.

    >>> quantize(np.float32([0.25, 0.75, 900]), np.float32(0.5), 3, np.dtype(np.uint8))
    array([  3,   5, 255], dtype=uint8)
    """
    return rounded(np.divide(x, scale, dtype=np.float32), zero_point, dtype)


def rounded(x: Array, zero_point: int, dtype: np.dtype) -> Array:
    """Multiples of the scale as bytes."""
    return np.asarray(steps_of(x, zero_point, dtype).astype(np.int32) + zero_point, dtype)


def steps_of(x: Array, zero_point: int, dtype: np.dtype) -> Array:
    """Multiples of the scale as integers of steps from the zero point, within what bytes of this type hold."""
    limits = np.iinfo(dtype)
    return np.asarray(np.rint(np.clip(x, np.float32(limits.min - zero_point), np.float32(limits.max - zero_point))))


def by_table(x: Quantized, function: Callable[[Array], Array], scale: np.float32, zero_point: int) -> Array:
    """A function of every byte, by a table of what it makes of all 256."""
    dtype = x.numbers.dtype
    every = x._replace(numbers=np.arange(_MAX_BYTE + 1, dtype=np.uint8).view(dtype))
    table = quantize(function(every.dequantized()), scale, zero_point, dtype)
    return np.asarray(table[np.ascontiguousarray(x.numbers).view(np.uint8)])


def dynamic_steps(x: Array) -> tuple[Array, np.float32]:
    """Floats as uint8 less a zero point, and the scale: both as the range of the numbers, and 0, needs them.

    A range without an end makes all numbers NaN.

    >>> dynamic_steps(np.float32([-1, 0, 4.1]))
    (array([-50.,   0., 205.], dtype=float32), np.float32(0.02))
    """
    low, high = np.float32(x.min(initial=0)), np.float32(x.max(initial=0))
    scale = np.float32(1) if low == high else np.float32((high - low) / np.float32(_MAX_BYTE))
    if not np.isfinite(scale):
        return np.full(x.shape, np.nan, np.float32), scale
    zero_point = int(np.rint(np.clip(np.float32(0) - low / scale, 0, _MAX_BYTE)))
    return steps_of(np.divide(x, scale, dtype=np.float32), zero_point, np.dtype(np.uint8)), scale


class ByteMatrix:
    """The right operand of products: bytes (k, n) less a zero point, one or one for each column.

    Raises
    ------
    ShapeError
        If the zero points do not fit.
    """

    def __init__(self, numbers: Array, zero_point: Array | int = 0, where: str = "ByteMatrix") -> None:
        zero_points = np.asarray(zero_point, np.float32)
        if numbers.ndim != 2 or zero_points.size not in (1, numbers.shape[-1]):
            raise ShapeError(where, "a matrix (k, n) with one zero point or n", (numbers.shape, zero_points.shape))
        centred = numbers.astype(np.float32) - zero_points.reshape(-1)
        largest = max(int(np.abs(centred).max(initial=0)), 1)
        self.shape = numbers.shape
        self._rows = max((EXACT - 1) // (largest * _MAX_BYTE), 1)
        starts = range(0, max(len(centred), 1), self._rows)
        self._pieces = [pack_right(np.ascontiguousarray(centred[start : start + self._rows])) for start in starts]

    def times(self, left: Array) -> Array:
        """The products of bytes (..., k), already less their zero point, with this matrix: integers (..., n).

        >>> ByteMatrix(np.uint8([[10], [20]]), 10).times(np.float32([[-1, 1]])).tolist()
        [[10.0]]

        Raises
        ------
        ShapeError
            If the last axis is not k long.
        """
        k, n = self.shape
        if left.ndim == 0 or left.shape[-1] != k:
            raise ShapeError("ByteMatrix", f"a left operand (..., {k})", left.shape)
        rows = left.reshape(math.prod(left.shape[:-1]), k)
        parts = [
            matmul(np.ascontiguousarray(rows[:, place * self._rows : (place + 1) * self._rows]), piece)
            for place, piece in enumerate(self._pieces)
        ]
        total = parts[0] if len(parts) == 1 else np.sum(parts, axis=0, dtype=np.float64)
        return np.asarray(total).reshape(*left.shape[:-1], n)
