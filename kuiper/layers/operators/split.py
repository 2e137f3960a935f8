"""torch.split: pieces of given sizes."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.axes import CHANNELS, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.pieces import check_count, cut, for_outputs
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.split", "Tensor.split")
class Split(Layer):
    """Cut axis ``dim`` into pieces of ``split_size_or_sections`` entries; views.

    A number is the size of every piece (the last may be smaller), a list gives each size. Without either, as in graphs
    born from ONNX, there is a piece of equal size for each output.

    Source: torch.split.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", 0)
        self.is_pixelwise = self.dim in CHANNELS
        sizes = op.params["split_size_or_sections"].value if op.has_param("split_size_or_sections") else None
        several = isinstance(sizes, (list, tuple))
        self.size = None if several else op.int_param("split_size_or_sections", None)
        self.sizes = op.ints_param("split_size_or_sections") if several else ()
        if any(size < 0 for size in self.sizes) or (self.size is not None and self.size < 1):
            raise ParameterError(op.where, "split_size_or_sections of positive sizes", sizes)

    def forward(self, x: Array) -> Array | tuple[Array, ...]:
        self.expect(x.ndim > 0, "input with axes", x.shape)
        dim = axis(self.dim, x.ndim, self.op.where)
        total = x.shape[dim]
        size = self.size or max(1, -(-total // len(self.op.outputs)))
        check_count(-(-total // size), self.op.where)
        return for_outputs(self.op, split(x, self.sizes or equal_sizes(total, size), dim, self.op.where))


def split(x: Array, sizes: tuple[int, ...], dim: int = 0, where: str = "split") -> tuple[Array, ...]:
    """Views of ``x``: the first ``sizes[0]`` entries of axis ``dim``, the next ``sizes[1]``, and so on.

    >>> import numpy as np
    >>> split(np.array([1, 2, 3, 4]), (1, 3))
    (array([1]), array([2, 3, 4]))

    Raises
    ------
    ShapeError
        If there is no such axis, or the sizes do not add up to it.
    """
    dim = axis(dim, x.ndim, where)
    if sum(sizes) != x.shape[dim]:
        raise ShapeError(where, f"sizes that add up to {x.shape[dim]}", sizes)
    return cut(x, dim, pairwise(accumulate(sizes, initial=0)))


def equal_sizes(total: int, size: int) -> tuple[int, ...]:
    """As many pieces of ``size`` as fit, and one of what is left; one empty piece of nothing.

    >>> equal_sizes(7, 3)
    (3, 3, 1)
    """
    return tuple(min(size, total - start) for start in range(0, total, size)) or (0,)
