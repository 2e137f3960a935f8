"""Tensor.index: x[i, :, j] with tensors as indices."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, ShapeError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.index")
class Index(Layer):
    """Entries picked by tensors of integers, or by masks; None in their list keeps an axis.

    Several tensors broadcast against each other. The axes of the result come where the tensors stood if they stood side
    by side, else in front, as in NumPy. Constant tensors are a parameter, ``expr=[None,[2,1,0]]``.

    Source: torch.Tensor indexing.
    """

    data_inputs = ("input", "self", "expr", "indices")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.constants = constant_indices(op) if op.has_param("expr") else None

    def forward(self, x: Array, indices: Any = None) -> Array:
        indices = indices if self.constants is None else self.constants
        picked = index(x, tuple(indices) if isinstance(indices, (tuple, list)) else (indices,), self.op.where)
        declared = self.op.outputs[0].shape if self.constants and self.op.outputs else None
        if declared is not None and len(declared) != picked.ndim:
            raise self.unsupported("indices with one axis, as pnnx keeps no other", self.op.params["expr"].value)
        return picked


def constant_indices(op: RuntimeOperator) -> tuple[Array | None, ...]:
    """The tensors that ``expr`` spells out.

    Raises
    ------
    ParameterError
        If it is no list of None and lists of integers: pnnx leaves the middle of a long list out.
    """
    text = op.str_param("expr")
    try:
        tensors = [None if entry is None else np.array(entry) for entry in literal_eval(text)]
        return tuple(None if tensor is None else _as_indices(tensor) for tensor in tensors)
    except (ValueError, TypeError, SyntaxError):
        raise ParameterError(op.where, "expr=a list of None and lists of integers", text) from None


def _as_indices(tensor: Array) -> Array:
    """A mask as it is, integers as int64."""
    return tensor if tensor.dtype.kind == "b" else tensor.astype(np.int64, casting="safe")


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
    picked = as_places(indices, where)
    try:
        return np.asarray(x[picked])
    except IndexError as error:
        raise wrong_places(error, x.shape, indices, where) from None


def as_places(indices: tuple[Array | None, ...], where: str) -> tuple[Any, ...]:
    """What to write between NumPy's brackets for these tensors.

    Raises
    ------
    DataTypeError
        If one holds floats.
    """
    for tensor in indices:
        if tensor is not None and np.asarray(tensor).dtype.kind not in "iub":
            raise DataTypeError(where, "indices that are integers or bools", np.asarray(tensor).dtype)
    return tuple(slice(None) if tensor is None else np.asarray(tensor) for tensor in indices)


def wrong_places(
    error: IndexError, shape: tuple[int, ...], indices: tuple[Array | None, ...], where: str
) -> ShapeError | TensorIndexError:
    """What NumPy's complaint about such indices means."""
    if "broadcast" in str(error):
        return ShapeError(where, "indices that broadcast", [getattr(tensor, "shape", None) for tensor in indices])
    return TensorIndexError(where, f"indices within {shape}", str(error))
