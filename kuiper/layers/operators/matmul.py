"""torch.matmul, torch.mm and torch.bmm: matrix products, one or a stack of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers import gemm
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_RANKS = {"torch.mm": 2, "torch.bmm": 3}


@register("torch.matmul", "torch.mm", "torch.bmm", "Tensor.matmul")
class Matmul(Layer):
    """The matrix product of the last two axes of both inputs; the axes in front broadcast.

    A vector on the left counts as a row, one on the right as a column, and that axis is then gone from the output.
    ``mm`` takes two matrices, ``bmm`` two stacks of equally many matrices.

    Source: torch.matmul.
    """

    data_inputs = ("input", "self", "other", "mat2")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.rank = _RANKS.get(op.type)

    def forward(self, a: Array, b: Array) -> Array:
        if self.rank is not None:
            fits = a.ndim == b.ndim == self.rank and a.shape[:-2] == b.shape[:-2]
            self.expect(fits, "(m, k) and (k, n)" if self.rank == 2 else "(n, m, k) and (n, k, p)", (a.shape, b.shape))
        return matmul(a, b, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * inputs[0][-1] * math.prod(outputs[0])


def matmul(a: Array, b: Array, where: str = "matmul") -> Array:
    """The product (..., m, k) (..., k, n) -> (..., m, n), as torch.matmul has it.

    A right operand that is one matrix is shared by the whole stack on the left, which then is one tall matrix:
    (b, m, k) (k, n) = (b m, k) (k, n).

    >>> matmul(np.array([[1, 2], [3, 4]], np.float32), np.array([1, 10], np.float32))
    array([21., 43.], dtype=float32)

    Raises
    ------
    ShapeError
        If the inner sizes differ, the axes in front do not broadcast, or an input is a scalar.
    DataTypeError
        If the element types differ.
    """
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(where, "inputs with at least one axis", (a.shape, b.shape))
    if a.dtype != b.dtype:
        raise DataTypeError(where, "two inputs of one element type", f"{a.dtype} and {b.dtype}")
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(where, f"a right input with {left.shape[-1]} rows for the left {a.shape}", b.shape)
    product = shared_right(left, right) if right.ndim == 2 else stacked(left, right, where)
    product = product[..., 0] if b.ndim == 1 else product
    if a.ndim == 1:
        product = product[..., 0] if b.ndim == 1 else product[..., 0, :]
    return np.asarray(product)


def shared_right(left: Array, right: Array) -> Array:
    """(..., m, k) (k, n): every row of the stack meets the same matrix."""
    rows = left.reshape(math.prod(left.shape[:-1]), left.shape[-1])
    return multiply(rows, right).reshape(*left.shape[:-1], right.shape[-1])


def stacked(left: Array, right: Array, where: str) -> Array:
    """(..., m, k) (..., k, n): matrix by matrix."""
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ShapeError(where, "axes in front that broadcast", (left.shape, right.shape)) from None
    (m, k), n = left.shape[-2:], right.shape[-1]
    left = np.broadcast_to(left, (*batch, m, k))
    right = np.broadcast_to(right, (*batch, k, n))
    product = np.empty((*batch, m, n), left.dtype)
    for index in np.ndindex(*batch):
        multiply(left[index], right[index], product[index])
    return product


def multiply(a: Array, b: Array, out: Array | None = None) -> Array:
    """One matrix product (m, k) (k, n): kuiper's own for float32, NumPy's for the types that no model is run in."""
    return gemm.matmul(a, b, out) if a.dtype == np.float32 else np.matmul(a, b, out=out)
