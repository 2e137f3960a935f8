"""torch.chunk: at most this many pieces of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.axes import CHANNELS, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.split import equal_sizes, split
from kuiper.layers.pieces import check_count, for_outputs
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.chunk", "Tensor.chunk")
class Chunk(Layer):
    """Cut axis ``dim`` into ``chunks`` pieces of ceil(size / chunks) entries; views.

    The last piece may be smaller, and there may be fewer of them: 5 entries in 4 chunks are 2 + 2 + 1.

    Source: torch.chunk.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.chunks = op.int_param("chunks")
        self.dim = op.int_param("dim", 0)
        self.is_pixelwise = self.dim in CHANNELS
        if self.chunks < 1:
            raise ParameterError(op.where, "chunks >= 1", self.chunks)

    def forward(self, x: Array) -> Array | tuple[Array, ...]:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        dim = axis(self.dim, x.ndim, self.op.where)
        check_count(min(self.chunks, x.shape[dim]) or self.chunks, self.op.where)
        return for_outputs(self.op, split(x, chunk_sizes(x.shape[dim], self.chunks), dim, self.op.where))


def chunk_sizes(total: int, chunks: int) -> tuple[int, ...]:
    """The sizes of the pieces.

    >>> chunk_sizes(7, 3), chunk_sizes(5, 4), chunk_sizes(0, 2)
    ((3, 3, 1), (2, 2, 1), (0, 0))
    """
    return equal_sizes(total, -(-total // chunks)) if total else (0,) * chunks
