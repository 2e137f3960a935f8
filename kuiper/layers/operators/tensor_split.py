"""torch.tensor_split: pieces of nearly one size, or pieces between given indices."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.layers.axes import CHANNELS, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.split import split
from kuiper.layers.pieces import check_count, cut, for_outputs
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.tensor_split", "Tensor.tensor_split")
class TensorSplit(Layer):
    """Cut axis ``dim`` into ``sections`` pieces, or at ``indices``; views.

    Sections differ by at most one entry, the larger ones first. Indices are read as in Python: x[:i], x[i:j], x[j:].

    Source: torch.tensor_split.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", 0)
        self.is_pixelwise = self.dim in CHANNELS
        self.indices: tuple[int, ...] | None = op.ints_param("indices", None)
        self.sections = op.int_param("sections") if self.indices is None else 1
        if self.sections < 1:
            raise ParameterError(op.where, "sections >= 1", self.sections)

    def forward(self, x: Array) -> Array | tuple[Array, ...]:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        dim = axis(self.dim, x.ndim, self.op.where)
        if self.indices is None:
            check_count(self.sections, self.op.where)
            return for_outputs(self.op, split(x, section_sizes(x.shape[dim], self.sections), dim, self.op.where))
        return for_outputs(self.op, cut(x, dim, pairwise((None, *self.indices, None))))


def section_sizes(total: int, sections: int) -> tuple[int, ...]:
    """The sizes of the pieces.

    >>> section_sizes(7, 3)
    (3, 2, 2)
    """
    size, larger = divmod(total, sections)
    return (size + 1,) * larger + (size,) * (sections - larger)
