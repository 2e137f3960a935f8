"""Tensor.index: x[i, :, j] with tensors as indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from kuiper.errors import DataTypeError, ShapeError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register


@register("Tensor.index")
class Index(Layer):
    """Entries picked by tensors of whole numbers, or by masks; None in their list keeps an axis.

    Several tensors broadcast against each other. The axes of the result come where the tensors stood if they stood side
    by side, else in front, as in NumPy.

    Source: torch.Tensor indexing.
    """

    data_inputs = ("input", "self", "expr", "indices")

    def forward(self, x: Array, indices: Any) -> Array:
        return index(x, tuple(indices) if isinstance(indices, (tuple, list)) else (indices,), self.op.where)


def index(x: Array, indices: tuple[Array | None, ...], where: str = "index") -> Array:
    """``x[indices]``, where None stands for a whole axis.

    >>> index(np.array([[1, 2, 3], [4, 5, 6]]), (None, np.array([2, 0])))
    array([[3, 1],
           [6, 4]])

    Raises
    ------
    DataTypeError
        If an index holds floats.
    TensorIndexError
        If an index lies outside, or a mask has another shape than the axes that it masks.
    ShapeError
        If the indices do not broadcast.
    """
    for tensor in indices:
        if tensor is not None and np.asarray(tensor).dtype.kind not in "iub":
            raise DataTypeError(where, "indices that are whole numbers or bools", np.asarray(tensor).dtype)
    picked = tuple(slice(None) if tensor is None else np.asarray(tensor) for tensor in indices)
    try:
        return np.asarray(x[picked])
    except IndexError as error:
        if "broadcast" in str(error):
            raise ShapeError(
                where, "indices that broadcast", [getattr(tensor, "shape", None) for tensor in indices]
            ) from None
        raise TensorIndexError(where, f"indices within {x.shape}", str(error)) from None
