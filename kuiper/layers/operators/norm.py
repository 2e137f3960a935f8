"""torch.norm: the length of vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array


@register("torch.norm", "Tensor.norm")
class Norm(Reduction):
    """(sum |x|^p)^(1/p) over ``dim``; p may be inf (the largest |x|), -inf (the smallest) or 0 (how many are not 0).

    Source: torch.norm.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.p = 2.0 if op.has_param("p") and op.params["p"].value == "fro" else op.float_param("p", 2.0)

    def reduce(self, x: Array) -> Array:
        return norm(x, self.p, self.dims, self.keepdim, self.op.where)


def norm(x: Array, p: float = 2, dims: tuple[int, ...] = (), keepdim: bool = False, where: str = "norm") -> Array:
    """The p-norm over the axes ``dims`` (all if empty), added up in float64.

    >>> norm(np.array([[3, 4], [0, 2]], np.float32), 2, (1,))
    array([5., 2.], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes.
    """
    reduced = reduced_axes(x, dims, where)
    size = np.abs(x.astype(np.float64))
    with np.errstate(all="ignore"):
        if math.isinf(p):
            result = (np.max if p > 0 else np.min)(size, axis=reduced, keepdims=keepdim, initial=0 if p > 0 else np.inf)
        elif p == 0:
            result = np.sum(size != 0, axis=reduced, keepdims=keepdim)
        else:
            result = np.sum(size**p, axis=reduced, keepdims=keepdim) ** (1 / p)
        return np.asarray(result, x.dtype)
