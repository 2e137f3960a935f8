"""torch.max and torch.min: the largest and the smallest entry, and where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.amax import amax, amin
from kuiper.layers.operators.argmax import arg_extreme
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.max", "torch.min", "Tensor.max", "Tensor.min")
class Max(Layer):
    """The largest (``max``) or smallest (``min``) entry along ``dim`` and its index, or of the whole input.

    With two outputs they are values and indices; PNNX leaves out the indices where nothing reads them.

    Source: torch.max, torch.min.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.largest = op.type.endswith("max")
        self.dim: int | None = op.int_param("dim", None)
        self.keepdim = op.bool_param("keepdim", False)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        if self.dim is None or len(self.op.outputs) == 1:
            find = amax if self.largest else amin
            return find(x, () if self.dim is None else (self.dim,), self.keepdim, self.op.where)
        return with_index(x, self.dim, self.largest, self.keepdim, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return int(np.prod(inputs[0]))


def with_index(x: Array, dim: int, largest: bool, keepdim: bool, where: str) -> tuple[Array, Array]:
    """The largest or smallest entries along ``dim``, and the first index of each; a NaN beats every number.

    >>> with_index(np.array([[1, 7], [3, 6]]), 1, largest=True, keepdim=False, where="doc")
    (array([7, 6]), array([1, 1]))

    Raises
    ------
    ShapeError
        If there is no such axis, or nothing along it.
    """
    indices = arg_extreme(x, dim, largest, True, where)
    if x.ndim == 0:
        return x, indices
    dim = axis(dim, x.ndim, where)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))
