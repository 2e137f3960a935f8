"""torch.narrow: a stretch of one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.layers.axes import CHANNELS, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.pieces import cut
from kuiper.layers.registry import register
from kuiper.layers.static_batch import declared_shape
from kuiper.layers.static_sizes import refuse_baked_end

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.narrow", "Tensor.narrow")
class Narrow(Layer):
    """The ``length`` entries of axis ``dim`` from ``start`` on; always a view. Unlike a slice it must fit.

    Source: torch.narrow.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim")
        self.is_pixelwise = self.dim in CHANNELS
        self.start = op.int_param("start")
        self.length = op.int_param("length")
        self.declared = declared_shape(op)

    def forward(self, x: Array) -> Array:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        dim = axis(self.dim, x.ndim, self.op.where)
        size = x.shape[dim]
        start = self.start + size if self.start < 0 else self.start
        if self.declared is not None and len(self.declared) == x.ndim:
            refuse_baked_end(start + self.length, self.declared[dim], size, self.op.where)
        inside = start >= 0 and 0 <= self.length <= size - start
        self.expect(inside, f"start and length within {size} entries", (self.start, self.length))
        return cut(x, dim, [(start, start + self.length)])[0]
