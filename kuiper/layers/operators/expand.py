"""Tensor.expand: axes of size one stand for many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.layers.static_batch import declared_batch, declared_shape, with_actual_batch

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.expand")
class Expand(Layer):
    """Repeat axes of size one up to ``sizes``, without copying; -1 keeps an axis, new axes come in front.

    A -1 for a new axis, which torch refuses, is what pnnx writes for the 1 of an ONNX graph.

    A first entry that only repeats the declared batch size keeps the batch that comes. Another axis that has one entry
    but was kept when the model was exported is an error: the file does not say whether it is to be kept or repeated.

    Source: torch.Tensor.expand.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        key = "sizes" if op.has_param("sizes") else "shape"  # what older files call it
        self.sizes = op.ints_param(key, ())
        self.batch = declared_batch(op)
        self.declared = declared_shape(op)

    def forward(self, x: Array) -> Array:
        adds_no_axis = len(self.sizes) == x.ndim  # otherwise the first entry is a new axis, not the batch
        sizes = with_actual_batch(self.sizes, self.batch, x.shape) if adds_no_axis else self.sizes
        for old, size, wanted in zip(reversed(self.declared or ()), x.shape[::-1], sizes[::-1], strict=False):
            kept = isinstance(old, int) and old > 1 and wanted == old
            self.expect(
                not (kept and size == 1), f"input {self.declared}, which the file expands to {self.sizes}", x.shape
            )
        return expand(x, sizes, self.op.where)


@register("Tensor.expand_as")
class ExpandAs(Layer):
    """The first input, expanded to the shape of the second.

    Source: torch.Tensor.expand_as.
    """

    data_inputs = ("input", "self", "other")

    def forward(self, x: Array, other: Array) -> Array:
        return expand(x, other.shape, self.op.where)


def expand(x: Array, sizes: tuple[int, ...], where: str = "expand") -> Array:
    """A read-only view of ``x`` in which axes of size one repeat; -1 keeps an axis, and makes a new one of size one.

    >>> import numpy as np
    >>> expand(np.array([[1], [2]]), (2, -1, 3))
    array([[[1, 1, 1],
            [2, 2, 2]],
    <BLANKLINE>
           [[1, 1, 1],
            [2, 2, 2]]])

    Raises
    ------
    ShapeError
        If an axis is neither kept nor of size one, or a size is below 0.
    """
    new = len(sizes) - x.ndim
    padded = (1,) * new + x.shape
    target = tuple(old if size == -1 else size for old, size in zip(padded, sizes, strict=False))
    fits = all(old in (1, size) for old, size in zip(x.shape, target[max(new, 0) :], strict=False))
    if new < 0 or not fits or min(target, default=0) < 0:
        raise ShapeError(where, f"sizes that input {x.shape} can expand to", sizes)
    return np.broadcast_to(x, target)
