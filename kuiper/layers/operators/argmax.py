"""torch.argmax and torch.argmin: where the largest and the smallest entry are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.axes import axis
from kuiper.layers.reduction import Reduction, expect_elements
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@register("torch.argmax", "torch.argmin", "Tensor.argmax", "Tensor.argmin")
class Argmax(Reduction):
    """The index of the largest (``argmax``) or smallest (``argmin``) entry along ``dim``, or in the flattened input.

    Source: torch.argmax, torch.argmin.
    """

    def reduce(self, x: Array) -> Array:
        dim = self.op.int_param("dim", None)
        return arg_extreme(x, dim, self.op.type.endswith("argmax"), self.keepdim, self.op.where)


def arg_extreme(x: Array, dim: int | None, largest: bool, keepdim: bool, where: str) -> Array:
    """The index of the first largest or smallest entry along ``dim``; a NaN counts as larger and smaller than all.

    >>> arg_extreme(np.array([[1, 7], [3, 6]]), dim=0, largest=True, keepdim=False, where="doc")
    array([1, 0])

    Raises
    ------
    ShapeError
        If there is no such axis, or nothing along it.
    """
    counted = None if dim is None or x.ndim == 0 else axis(dim, x.ndim, where)
    expect_elements(x, tuple(range(x.ndim)) if counted is None else (counted,), where)
    find = np.argmax if largest else np.argmin
    return np.asarray(find(x, axis=counted, keepdims=keepdim), np.int64)
