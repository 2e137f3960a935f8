"""Tensor.reshape and Tensor.view: the same elements in the same order, in another shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operand_parameters import OF_A_VIEW
from kuiper.layers.promotion import as_array
from kuiper.layers.registry import register
from kuiper.layers.static_batch import declared_batch, declared_shape, with_actual_batch
from kuiper.layers.static_sizes import is_known, with_actual_sizes

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.reshape", "Tensor.view", "torch.reshape")
class Reshape(Layer):
    """The elements of the input in ``shape``, one entry of which may be -1: as many as are left.

    A view where the memory allows it. Sizes that the export baked into ``shape`` give way to the actual ones. Where it
    cannot be told which they are, an input of another shape than the file declares is an error, even if its elements
    would fit. A 0 keeps the size of that axis, as in ONNX, if the input has elements: in torch nothing fits such a
    shape then.

    Source: torch.reshape.
    """

    is_view = True
    keeps_order = True
    data_inputs = OF_A_VIEW

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.shape = written_shape(op)
        self.batch = declared_batch(op)
        self.declared = declared_shape(op)

    def forward(self, x: Array | float) -> Array:
        x = as_array(x)
        given = self.shape if x.size == 0 else with_kept_sizes(self.shape, x.shape)
        if x.shape == self.declared:
            return reshape(x, given, self.op.where)
        if not is_known(self.declared) or x.size == 0:
            shape = with_actual_batch(given, self.batch, x.shape)
            return reshape(x, shape if fits(shape, x.size) else given, self.op.where)
        actual = with_actual_sizes(given, self.declared, x.shape)
        if actual is None:
            expected = f"input {self.declared}, from which the file makes {given}"
            raise ShapeError(self.op.where, expected, x.shape, hint="export the model with free sizes")
        return reshape(x, actual, self.op.where)


@register("Tensor.view_as", "Tensor.reshape_as", "aten::view_as")
class ReshapeAs(Layer):
    """The elements of the first input in the shape of the second.

    Source: torch.Tensor.view_as.
    """

    is_view = True
    keeps_order = True
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


def written_shape(op: RuntimeOperator) -> tuple[int, ...]:
    """The parameter ``shape``, or what the file declares for the output if that has another number of axes.

    (For ``x.reshape(n, c, m, -1)`` pnnx may write an entry too many, and declares the right shape beside it.)
    """
    shape = op.ints_param("shape", ())
    declared = op.outputs[0].shape if op.outputs else None
    if not declared or len(declared) == len(shape) or not all(isinstance(size, int) for size in declared):
        return shape
    return tuple(size for size in declared if isinstance(size, int))


def with_kept_sizes(shape: tuple[int, ...], old: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with the size of the same axis of ``old`` for each 0.

    >>> with_kept_sizes((0, -1, 2), (5, 6))
    (5, -1, 2)
    """
    return tuple(old[i] if size == 0 and i < len(old) else size for i, size in enumerate(shape))


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
