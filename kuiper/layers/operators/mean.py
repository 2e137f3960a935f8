"""torch.mean: the average over axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError
from kuiper.layers.reduction import Reduction, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("torch.mean", "Tensor.mean")
class Mean(Reduction):
    """The average over ``dim``.

    Source: torch.mean.
    """

    def reduce(self, x: Array) -> Array:
        return mean(x, self.dims, self.keepdim, self.op.where)


def mean(x: Array, dims: tuple[int, ...] = (), keepdim: bool = False, where: str = "mean") -> Array:
    """The average over the axes ``dims`` (all if empty), added up in float64; NaN where there is nothing to average.

    >>> mean(np.array([[1, 2], [3, 6]], np.float32), (0,))
    array([2., 4.], dtype=float32)

    Raises
    ------
    DataTypeError
        If ``x`` holds no floats.
    ShapeError
        If it lacks one of the axes.
    """
    if x.dtype.kind != "f":
        raise DataTypeError(where, "floats", x.dtype)
    reduced = reduced_axes(x, dims, where)
    count = math.prod(x.shape[dim] for dim in reduced)
    total = np.sum(x, axis=reduced, dtype=np.float64, keepdims=keepdim)
    with np.errstate(all="ignore"):
        return np.asarray(np.divide(total, count), x.dtype)
