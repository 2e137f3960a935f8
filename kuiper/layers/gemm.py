"""The matrix product that every layer uses: one wrapper in front of ``kernels/gemm.pyx``.

An operand that never changes (a weight) is packed once, when the layer is made; the other is packed on each call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.kernels import gemm
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@dataclass(frozen=True, slots=True)
class PackedLeft:
    """A constant left operand (m, k) in panels of rows."""

    shape: tuple[int, int]
    panels: Array


@dataclass(frozen=True, slots=True)
class PackedRight:
    """A constant right operand (k, n) in panels of columns."""

    shape: tuple[int, int]
    panels: Array


def pack_left(a: Array) -> PackedLeft:
    """``a`` (m, k), float32, in the order in which the kernel reads a left operand."""
    m, k = a.shape
    panels = np.empty((-(-m // gemm.TILE_ROWS), k, gemm.TILE_ROWS), np.float32)
    gemm.pack_left(a, panels, threads_for(m * k))
    return PackedLeft((m, k), panels)


def pack_right(b: Array) -> PackedRight:
    """``b`` (k, n), float32, in the order in which the kernel reads a right operand."""
    k, n = b.shape
    panels = np.empty((-(-n // gemm.TILE_COLUMNS), k, gemm.TILE_COLUMNS), np.float32)
    gemm.pack_right(b, panels, threads_for(k * n))
    return PackedRight((k, n), panels)


def matmul(left: Array | PackedLeft, right: Array | PackedRight, out: Array | None = None) -> Array:
    """The matrix product (m, k) (k, n) -> (m, n) in float32.

    ``out``, if given, is filled and returned; its rows must be contiguous, as are those of a slice of columns.
    The result does not depend on the number of threads, to the last bit.

    >>> import numpy as np
    >>> matmul(np.eye(2, dtype=np.float32), np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    array([[1., 2., 3.],
           [4., 5., 6.]], dtype=float32)

    Raises
    ------
    ShapeError
        If the inner sizes differ or ``out`` has another shape.
    """
    (m, k), (inner, n) = left.shape, right.shape
    if k != inner:
        raise ShapeError("matmul", f"a right operand ({k}, n)", right.shape)
    if out is None:
        out = np.empty((m, n), np.float32)
    elif out.shape != (m, n):
        raise ShapeError("matmul", f"out of shape ({m}, {n})", out.shape)
    if k == 0:
        out[...] = 0  # an empty sum
    elif m and n:
        left = left if isinstance(left, PackedLeft) else pack_left(left)
        right = right if isinstance(right, PackedRight) else pack_right(right)
        gemm.multiply(left.panels, right.panels, out, threads_for(m * n * k))
    return out
