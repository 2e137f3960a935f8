"""torch.amax and torch.amin: the largest and the smallest entry over axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.reduction import Reduction, expect_elements, reduced_axes
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("torch.amax", "torch.amin", "Tensor.amax", "Tensor.amin")
class Amax(Reduction):
    """The largest (``amax``) or smallest (``amin``) entry over ``dim``; NaN where there is one.

    Source: torch.amax, torch.amin.
    """

    def reduce(self, x: Array) -> Array:
        find = amax if self.op.type.endswith("amax") else amin
        return find(x, self.dims, self.keepdim, self.op.where)


def amax(x: Array, dims: tuple[int, ...] = (), keepdim: bool = False, where: str = "amax") -> Array:
    """The largest entry over the axes ``dims``, all if empty.

    >>> amax(np.array([[1, 7], [3, 6]]), (0,))
    array([3, 7])

    Raises
    ------
    ShapeError
        If ``x`` lacks one of the axes, or one of them is empty.
    """
    reduced = reduced_axes(x, dims, where)
    expect_elements(x, reduced, where)
    return np.asarray(np.max(x, axis=reduced, keepdims=keepdim))


def amin(x: Array, dims: tuple[int, ...] = (), keepdim: bool = False, where: str = "amin") -> Array:
    """The smallest entry over the axes ``dims``, all if empty; raises as ``amax`` does."""
    reduced = reduced_axes(x, dims, where)
    expect_elements(x, reduced, where)
    return np.asarray(np.min(x, axis=reduced, keepdims=keepdim))
