"""torch.cat: tensors one behind the other along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ShapeError
from kuiper.layers.axes import CHANNELS, axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.promotion import promoted
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.graph.runtime_operator import RuntimeOperator


@register("torch.cat", "torch.concat")
class Cat(Layer):
    """The inputs joined along axis ``dim``; their other axes must agree. A plain number counts as a vector of one.

    In a graph that was exported for one image, what stays one image when several come (a class token) goes with each.

    Source: torch.cat.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.dim = op.int_param("dim", 0)
        self.is_pixelwise = self.dim in CHANNELS
        self.for_one_image = all((operand.shape or (None,))[0] == 1 for operand in op.inputs)

    def forward(self, *inputs: Array | Sequence[Array]) -> Array:
        # in graphs born from ONNX a size is a vector of one: cat(size(@0,0), 3) makes a shape
        arrays = [np.array([x], promoted([x])) if isinstance(x, (int, float)) else x for x in listed(inputs)]
        return cat(with_one_batch(arrays, self.dim) if self.for_one_image else arrays, self.dim, self.op.where)


def with_one_batch(arrays: list[Array], dim: int) -> list[Array]:
    """The arrays, those of one image repeated for each image of the others.

    >>> [array.shape for array in with_one_batch([np.zeros((1, 1, 4)), np.zeros((3, 5, 4))], dim=1)]
    [(3, 1, 4), (3, 5, 4)]
    """
    batch = max((len(array) for array in arrays if array.ndim), default=1)
    if batch == 1 or any(array.ndim == 0 or dim in (0, -array.ndim) for array in arrays):
        return arrays
    return [np.broadcast_to(array, (batch, *array.shape[1:])) if len(array) == 1 else array for array in arrays]


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


def listed(inputs: tuple[Any, ...]) -> list[Any]:
    """The arrays, or numbers, of an operator that joins: its inputs, or the one list that it was given."""
    return [array for item in inputs for array in (item if isinstance(item, (tuple, list)) else (item,))]
