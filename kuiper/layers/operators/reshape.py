"""Tensor.reshape and Tensor.view: the same elements in the same order, in another shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ShapeError
from kuiper.layers.baked_batch import declared_batch, with_actual_batch
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.reshape", "Tensor.view", "torch.reshape")
class Reshape(Layer):
    """The elements of the input in ``shape``, one entry of which may be -1: as many as are left.

    A view where the memory allows it. A batch size that the export baked into ``shape`` gives way to the actual one,
    unless the elements do not fit: then the shape is taken as it stands.

    Source: torch.reshape.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.shape = op.ints_param("shape", ())
        self.batch = declared_batch(op)

    def forward(self, x: Array) -> Array:
        shape = with_actual_batch(self.shape, self.batch, x.shape)
        return reshape(x, shape if fits(shape, x.size) else self.shape, self.op.where)


@register("Tensor.view_as", "Tensor.reshape_as", "aten::view_as")
class ReshapeAs(Layer):
    """The elements of the first input in the shape of the second.

    Source: torch.Tensor.view_as.
    """

    data_inputs = ("input", "self", "other")

    def forward(self, x: Array, other: Array) -> Array:
        return reshape(x, other.shape, self.op.where)


def reshape(x: Array, shape: tuple[int, ...], where: str = "reshape") -> Array:
    """The elements of ``x`` in C order in this shape; one entry may be -1.

    >>> import numpy as np
    >>> reshape(np.zeros((2, 3, 4), np.float32), (4, -1)).shape
    (4, 6)

    Raises
    ------
    ShapeError
        If the shape does not hold exactly the elements of ``x``.
    """
    return x.reshape(completed(shape, x.size, where))


def fits(shape: tuple[int, ...], count: int) -> bool:
    """Whether ``count`` elements fill this shape, with at most one -1 that has exactly one answer."""
    known = math.prod(size for size in shape if size != -1)
    if any(size < -1 for size in shape) or shape.count(-1) > 1:
        return False
    return known == count if -1 not in shape else known > 0 and count % known == 0


def completed(shape: tuple[int, ...], count: int, where: str) -> tuple[int, ...]:
    """``shape`` with its -1, if any, replaced so that it holds ``count`` elements.

    Raises
    ------
    ShapeError
        If no size, or more than one, would do.
    """
    if not fits(shape, count):
        raise ShapeError(where, f"a shape of {count} elements with at most one -1", shape)
    known = math.prod(size for size in shape if size != -1)
    return tuple(count // known if size == -1 else size for size in shape)
