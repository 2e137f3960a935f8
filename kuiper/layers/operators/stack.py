"""torch.stack: tensors of one shape side by side on a new axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.cat import listed
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.stack")
class Stack(Layer):
    """The inputs as the entries of a new axis ``dim``.

    Source: torch.stack.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", 0)

    def forward(self, *inputs: Array | Sequence[Array]) -> Array:
        return stack(listed(inputs), self.dim, self.op.where)


def stack(arrays: Sequence[Array], dim: int = 0, where: str = "stack") -> Array:
    """The arrays as the entries of a new axis ``dim``.

    >>> import numpy as np
    >>> stack([np.array([1, 2]), np.array([3, 4])], -1)
    array([[1, 3],
           [2, 4]])

    Raises
    ------
    ShapeError
        If there are no arrays, or their shapes differ.
    """
    if len({array.shape for array in arrays}) != 1:
        shapes = ", ".join(str(array.shape) for array in arrays) or "none"
        raise ShapeError(where, "inputs of one shape", shapes)
    return np.stack(arrays, axis=axis(dim, arrays[0].ndim + 1, where), dtype=promoted(arrays))
