"""Shapes, strides and orders: the numbers that explain one piece of memory as a tensor.

Row-major ("C") puts neighbours along the last axis next to each other, column-major ("F", as in Fortran and in
KuiperInfer's Armadillo) those along the first:

    [[1, 2, 3],    row-major      1 2 3 4 5 6    strides (3, 1)
     [4, 5, 6]]    column-major   1 4 2 5 3 6    strides (1, 2)

Either way the value at index (i, j) lies at offset ``i * strides[0] + j * strides[1]``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError, TensorIndexError
from kuiper.tensor.buffer import Exporter

Order = Literal["C", "F"]
Shape = int | Sequence[int]

ORDERS: dict[object, Order] = {"C": "C", "row": "C", "F": "F", "column": "F"}


def memory_order(order: object, where: str) -> Order:
    """The order, "C" or "F", that any of the four spellings means."""
    if not isinstance(order, str) or order not in ORDERS:
        expected = "order 'C' or 'row' (row-major), 'F' or 'column' (column-major)"
        raise ParameterError(where, expected, repr(order))
    return ORDERS[order]


def order_of(array: np.ndarray) -> Order | None:
    """The order of the values in memory; None for a view with gaps or with its axes permuted otherwise."""
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else None


def element_strides(array: np.ndarray) -> tuple[int, ...]:
    """How many elements (not bytes) lie between neighbours along each axis."""
    return tuple(stride // array.itemsize for stride in array.strides)


def numeric_array(values: object, where: str) -> np.ndarray:
    """The values, numbers in nested lists or in anything that NumPy reads, as an array of real numbers."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError(where, "nested lists of equal lengths", "ragged ones", hint=str(error)) from error
    if array.dtype.kind not in "biuf":
        raise DataTypeError(where, "real numbers", f"values of type {array.dtype}")
    return array


def integers(values: Sequence[object], where: str, what: str) -> tuple[int, ...]:
    """The values as a tuple of ints; one sequence may stand for all: ``(2, 3)`` and ``((2, 3),)`` mean the same."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    try:
        return tuple(operator.index(value) for value in values)  # type: ignore[arg-type]
    except TypeError as error:
        raise DataTypeError(where, f"integers as {what}", repr(tuple(values))) from error


def checked_shape(shape: Shape, where: str) -> tuple[int, ...]:
    """The shape as a tuple of lengths, none negative."""
    lengths = integers((shape,), where, "shape")
    if any(length < 0 for length in lengths):
        raise ShapeError(where, "a shape without negative lengths", lengths)
    return lengths


def reshaped(array: np.ndarray, shape: tuple[int, ...], order: Order, where: str) -> np.ndarray:
    """The values, read and written in one order, under a new shape; a view where the strides allow it."""
    known = math.prod(length for length in shape if length != -1)
    unknown = shape.count(-1)
    fits = array.size == known if unknown == 0 else known > 0 and array.size % known == 0
    if unknown > 1 or min(shape, default=0) < -1 or not fits:
        expected = f"a shape for the {array.size} values of {array.shape}, with at most one -1"
        raise ShapeError(where, expected, shape)
    return array.reshape(shape, order=order)


def flattened(array: np.ndarray, start: int, end: int, where: str) -> np.ndarray:
    """The axes from ``start`` to ``end``, both included, merged into one."""
    rank = max(array.ndim, 1)
    if not (-rank <= start < rank and -rank <= end < rank and start % rank <= end % rank):
        expected = f"start <= end within {-rank}..{rank - 1}"
        raise ShapeError(where, expected, f"start={start}, end={end} for shape {array.shape}")
    first, behind = start % rank, end % rank + 1
    shape = array.shape
    merged: tuple[int, ...] = (*shape[:first], math.prod(shape[first:behind]), *shape[behind:])
    return array.reshape(merged)


def permuted(array: np.ndarray, axes: tuple[int, ...], where: str) -> np.ndarray:
    """The same memory with its axes in another order."""
    rank = array.ndim
    if sorted(axis % rank if -rank <= axis < rank else rank for axis in axes) != list(range(rank)):
        raise ShapeError(where, f"each of the axes 0..{rank - 1} of shape {array.shape} once", axes)
    view: np.ndarray = array.transpose(axes)
    return view


def padded(array: np.ndarray, pads: Sequence[int], value: float, where: str) -> np.ndarray:
    """A copy with rows above and below, and columns left and right, of the last two axes."""
    widths = integers(pads, where, "pads")
    if len(widths) != 4 or min(widths) < 0:
        raise ShapeError(where, "pads (up, bottom, left, right), none negative", widths)
    if array.ndim < 2:
        raise ShapeError(where, "at least the axes (h, w)", array.shape)
    up, bottom, left, right = widths
    *outer, h, w = array.shape
    shape = (*outer, up + h + bottom, left + w + right)
    out = np.full(shape, value, array.dtype, order="F" if order_of(array) == "F" else "C")
    out[..., up : up + h, left : left + w] = array
    return out


def checked_index(index: Sequence[object], shape: tuple[int, ...], where: str) -> tuple[int, ...]:
    """The index of one value: one integer for each axis, negative ones counting from the end."""
    numbers = integers(index, where, "index")
    if len(numbers) != len(shape):
        raise TensorIndexError(where, f"{len(shape)} indices for shape {shape}", numbers)
    for axis, (number, length) in enumerate(zip(numbers, shape, strict=True)):
        if not -length <= number < length:
            expected = f"an index within {-length}..{length - 1} on axis {axis}" if length else f"values on axis {axis}"
            raise TensorIndexError(where, expected, number, hint=f"index {numbers}, shape {shape}")
    return numbers


def index_parts(key: object) -> tuple[Any, ...]:
    """The parts of what stands between the brackets, ready for NumPy."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(part.array if isinstance(part, Exporter) else part for part in parts)


def index_error(key: object, shape: tuple[int, ...], error: IndexError) -> TensorIndexError:
    """NumPy's complaint about the key, in the words of this package."""
    return TensorIndexError("Tensor[...]", f"an index for shape {shape}", repr(key), hint=str(error))
