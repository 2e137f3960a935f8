"""Tensor.size and aten::numel: the shape, the size of one axis, the number of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.size")
class Size(Layer):
    """The size of axis ``dim``, a plain int; without ``dim`` the list of all sizes.

    Source: torch.Tensor.size.
    """

    of_shapes = True

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim: int | None = op.int_param("dim", None)

    def forward(self, x: Array) -> int | list[int]:
        if self.dim is None:
            return list(x.shape)
        self.expect(x.ndim > 0, "input with axes", x.shape)
        return int(x.shape[axis(self.dim, x.ndim, self.op.where)])


@register("aten::numel")
class Numel(Layer):
    """How many entries the input has, a plain int.

    Source: torch.numel.
    """

    of_shapes = True

    def forward(self, x: Array) -> int:
        return int(x.size)
