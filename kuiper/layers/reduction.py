"""What the reductions share: which axes they reduce, and whether these stay with size one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ShapeError
from kuiper.layers.axes import axes
from kuiper.layers.element_type import dtype_param
from kuiper.layers.layer import Array, Layer

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


class Reduction(Layer):
    """The base of layers that reduce the axes ``dim``: absent or empty for all, a number, or several.

    ``keepdim=True`` keeps reduced axes with size one. A subclass computes ``reduce``, its wrapper function.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dims = op.ints_param("dim", ())
        self.keepdim = op.bool_param("keepdim", False)
        self.dtype = dtype_param(op)

    def forward(self, x: Array) -> Array:
        x = x if self.dtype is None else x.astype(self.dtype)
        return self.reduce(x)

    def reduce(self, x: Array) -> Array:
        """The reduced array."""
        raise NotImplementedError

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])


def reduced_axes(x: Array, dims: tuple[int, ...], where: str) -> tuple[int, ...]:
    """The axes of ``x`` that go: ``dims`` counted from the front, or all if there are none.

    Raises
    ------
    ShapeError
        If ``x`` lacks one of them, or one comes twice.
    """
    return axes(dims, x.ndim, where) if dims and x.ndim else tuple(range(x.ndim))


def expect_elements(x: Array, reduced: tuple[int, ...], where: str) -> None:
    """Raise ShapeError if a reduced axis is empty, for reductions that nothing has no answer to (a largest entry)."""
    if any(x.shape[dim] == 0 for dim in reduced):
        raise ShapeError(where, "at least one entry along each reduced axis", x.shape)
