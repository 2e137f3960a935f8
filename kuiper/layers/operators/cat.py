"""torch.cat: tensors one behind the other along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.cat", "torch.concat")
class Cat(Layer):
    """The inputs joined along axis ``dim``; their other axes must agree.

    Source: torch.cat.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", 0)

    def forward(self, *inputs: Array | Sequence[Array]) -> Array:
        return cat(listed(inputs), self.dim, self.op.where)


def cat(arrays: Sequence[Array], dim: int = 0, where: str = "cat") -> Array:
    """The arrays joined along axis ``dim``, in the element type that torch promotes them to.

    Arrays of shape (0,) take no part, as in torch: old code starts its lists with one.

    >>> import numpy as np
    >>> cat([np.array([[1, 2]]), np.array([[3]])], -1)
    array([[1, 2, 3]])

    Raises
    ------
    ShapeError
        If there are no arrays, or their shapes differ off that axis.
    """
    if not arrays:
        raise ShapeError(where, "at least one input", "none")
    joined = [array for array in arrays if array.shape != (0,)] or list(arrays[:1])
    dim = axis(dim, joined[0].ndim, where)
    if joined[0].ndim == 0 or len({(*a.shape[:dim], "dim", *a.shape[dim + 1 :]) for a in joined}) > 1:
        shapes = ", ".join(str(array.shape) for array in joined)
        raise ShapeError(where, f"inputs with axes that differ only in dim {dim}", shapes)
    return np.concatenate(joined, axis=dim, dtype=promoted(arrays))


def listed(inputs: tuple[Array | Sequence[Array], ...]) -> list[Array]:
    """The arrays of an operator that joins: its inputs, or the one list that it was given."""
    return [array for item in inputs for array in (item if isinstance(item, (tuple, list)) else (item,))]
