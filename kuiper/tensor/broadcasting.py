"""Broadcast arithmetic on arrays: the wrapper in front of the elementwise kernels.

Two shapes fit if their lengths, compared from the last axis on, are equal or one of them is 1; a missing axis counts
as 1. The axis of length 1 is repeated, without a copy: its stride is 0. KuiperInfer knows one case, (c, 1, 1) with
(c, h, w).

Source: NumPy user guide, "Broadcasting".
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.tensor import elementwise
from kuiper.tensor.buffer import Exporter
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.tensor.layout import Order

Operand = Exporter | np.ndarray | Real | float
Kernel = Callable[[np.ndarray, np.ndarray, np.ndarray, int], None]

KERNEL_RANK = 4


def combine(kernel: Kernel, x: Operand, y: Operand, where: str) -> np.ndarray:
    """``kernel(x, y)`` with the shapes broadcast, in memory of its own.

    The result is column-major where both operands are, else row-major.
    """
    a, b = float_array(x, where), float_array(y, where)
    shape = a.shape if a.shape == b.shape else broadcast_shape(a.shape, b.shape, where)
    out = np.empty(shape, np.float32, order=common_order(a, b))
    if out.size == 0:
        return out
    a, b = stretched(a, shape), stretched(b, shape)
    if out.flags.c_contiguous:
        run(kernel, a, b, out)
    else:  # transposed, column-major is row-major
        run(kernel, a.T, b.T, out.T)
    return out


def axpy(a: Real | float, x: Operand, y: Operand, where: str) -> np.ndarray:
    """``a * x + y`` for two arrays of one shape."""
    if not isinstance(a, Real):
        raise DataTypeError(where, "a number as a", type(a).__name__)
    left, right = float_array(x, where), float_array(y, where)
    if left.shape != right.shape:
        raise ShapeError(where, "x and y of one shape", f"{left.shape} and {right.shape}")
    order = common_order(left, right)
    out = np.empty(left.shape, np.float32, order=order)
    elementwise.axpy(float(a), in_order(left, order), in_order(right, order), out.ravel(order), threads_for(out.size))
    return out


def exp_negative(x: Operand, where: str) -> np.ndarray:
    """``exp(-x)``, value by value."""
    array = float_array(x, where)
    order = common_order(array, array)
    out = np.empty(array.shape, np.float32, order=order)
    elementwise.exp_negative(in_order(array, order), out.ravel(order), threads_for(out.size))
    return out


def float_array(value: Operand, where: str) -> np.ndarray:
    """The float32 array of an operand; a number becomes an array without axes."""
    array = value.array if isinstance(value, Exporter) else value
    if isinstance(array, Real):
        return np.array(array, np.float32)
    if not isinstance(array, np.ndarray):
        raise DataTypeError(where, "a Tensor, an ndarray or a number", type(value).__name__)
    if array.dtype != np.float32:
        raise DataTypeError(where, "float32 values", array.dtype, hint="Tensor(x) converts with a copy")
    # Kernels step by whole floats; memory that starts or steps by odd bytes (a packed file) is copied first.
    return array if array.flags.aligned else array.copy()


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...], where: str) -> tuple[int, ...]:
    """The shape that both fit.

    >>> broadcast_shape((3, 1, 1), (2, 3, 4, 5), "add")
    (2, 3, 4, 5)
    """
    try:
        return np.broadcast_shapes(a, b)
    except ValueError as error:
        expected = "shapes whose axes, counted from the last, are equal or 1"
        raise ShapeError(where, expected, f"{a} and {b}") from error


def stretched(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A view of this shape: stride 0 along the axes that are repeated."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def common_order(a: np.ndarray, b: np.ndarray) -> Order:
    """Column-major if both arrays are and one of them is not row-major as well; else row-major."""
    both_columns = a.flags.f_contiguous and b.flags.f_contiguous
    both_rows = a.flags.c_contiguous and b.flags.c_contiguous
    return "F" if both_columns and not both_rows else "C"


def in_order(array: np.ndarray, order: Order) -> np.ndarray:
    """The values in a row, in this order; a view where they already lie so."""
    return np.asarray(array, order=order).ravel(order)


def run(kernel: Kernel, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Call the kernel on arrays of one shape, their axes merged to at most four."""
    shape = merged_shape(out.shape, a.strides, b.strides)
    if len(shape) > KERNEL_RANK:  # a view too scattered for four axes: put its values in a row first
        a, b, shape = np.ascontiguousarray(a), np.ascontiguousarray(b), (out.size,)
    shape = (1,) * (KERNEL_RANK - len(shape)) + shape
    kernel(a.reshape(shape), b.reshape(shape), out.reshape(shape), threads_for(out.size))


def merged_shape(shape: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape after merging neighbouring axes that one stride can walk in both operands; ``a``, ``b`` are strides.

    >>> merged_shape((2, 3, 4, 5), (240, 80, 20, 4), (0, 4, 0, 0))  # (n, c, h, w) with (c, 1, 1): h and w merge
    (2, 3, 20)
    """
    merged: list[tuple[int, int, int]] = []
    for length, a_stride, b_stride in zip(shape, a, b, strict=True):
        if length == 1:
            continue
        if merged and merged[-1][1:] == (a_stride * length, b_stride * length):
            length *= merged.pop()[0]
        merged.append((length, a_stride, b_stride))
    return tuple(length for length, _, _ in merged)
