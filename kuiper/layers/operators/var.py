"""torch.var and torch.std: how far entries lie from their average."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("torch.var", "torch.std", "Tensor.var", "Tensor.std")
class Var(Reduction):
    """sum (x - mean)^2 / (count - correction) over ``dim``; ``std`` is its root.

    ``unbiased=True``, the default, means a correction of 1.

    Source: torch.var, torch.std.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.correction = op.float_param("correction", 1.0 if op.bool_param("unbiased", True) else 0.0)

    def reduce(self, x: Array) -> Array:
        spread = var(x, self.dims, self.keepdim, self.correction, self.op.where)
        return np.asarray(np.sqrt(spread)) if self.op.type.endswith("std") else spread

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 3 * math.prod(inputs[0])


def var(
    x: Array, dims: tuple[int, ...] = (), keepdim: bool = False, correction: float = 1, where: str = "var"
) -> Array:
    """The variance over the axes ``dims`` (all if empty), in float64 inside; NaN where count <= correction.

    >>> var(np.array([1, 2, 3, 6], np.float32), correction=0)
    array(3.5, dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes.
    """
    reduced = reduced_axes(x, dims, where)
    count = math.prod(x.shape[dim] for dim in reduced)
    with np.errstate(all="ignore"):
        total = np.sum(x, axis=reduced, dtype=np.float64, keepdims=True)
        squares = np.sum((x - np.divide(total, count)) ** 2, axis=reduced, keepdims=keepdim)
        return np.asarray(np.divide(squares, max(count - correction, 0)), x.dtype)
