"""torch.sum: the sum over axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("torch.sum", "Tensor.sum")
class Sum(Reduction):
    """The sum over ``dim``.

    Source: torch.sum.
    """

    def reduce(self, x: Array) -> Array:
        return sum_over(x, self.dims, self.keepdim, self.op.where, self.dtype)


def sum_over(
    x: Array,
    dims: tuple[int, ...] = (),
    keepdim: bool = False,
    where: str = "sum",
    dtype: np.dtype | None = None,
) -> Array:
    """The sum over the axes ``dims`` (all if empty); floats are added up in float64, integers and bools in int64.

    The result has the element type ``dtype``; if None, that of ``x`` for floats and int64 for the others.

    >>> sum_over(np.array([[1, 2], [3, 6]], np.float32), (-1,), keepdim=True)
    array([[3.],
           [9.]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes.
    """
    is_float = x.dtype.kind == "f"
    reduced, wide = reduced_axes(x, dims, where), np.float64 if is_float else np.int64
    total = np.sum(x, axis=reduced, dtype=wide, keepdims=keepdim)
    with np.errstate(all="ignore"):  # beyond float32 is inf
        return np.asarray(total, dtype or (x.dtype if is_float else np.int64))
