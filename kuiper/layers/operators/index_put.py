"""Tensor.index_put: x[i, :, j] = values with tensors as indices, as a new tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.clamp import number_param
from kuiper.layers.operators.index import as_places, wrong_places
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Tensor.index_put")
class IndexPut(Layer):
    """The input with ``values`` at the places that Tensor.index would pick; ``accumulate`` adds them to what is there.

    Where a place is named twice, the last value counts, or with ``accumulate`` all of them. The input is left alone.

    Source: torch.Tensor.index_put.
    """

    data_inputs = ("input", "self", "indices", "values")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.accumulate = op.bool_param("accumulate", False)
        self.value = number_param(op, "values")

    def forward(self, x: Array, indices: Any, values: Array | None = None) -> Array:
        indices = tuple(indices) if isinstance(indices, (tuple, list)) else (indices,)
        written = self.value if values is None else values
        self.expect(written is not None, "an input or a parameter 'values'", "none")
        return index_put(x, indices, np.asarray(written), self.accumulate, self.op.where)


def index_put(
    x: Array, indices: tuple[Array | None, ...], values: Array, accumulate: bool = False, where: str = "index_put"
) -> Array:
    """A copy of ``x`` with ``values`` at ``x[indices]``, where None stands for a whole axis.

    >>> index_put(np.zeros(3), (np.array([0, 2, 0]),), np.array([1.0, 5.0, 2.0]), accumulate=True)
    array([3., 0., 5.])

    Raises
    ------
    DataTypeError
        If an index holds floats, or the values are of a type that ``x`` cannot take.
    TensorIndexError
        If an index lies outside, or a mask has another shape than the axes that it masks.
    ShapeError
        If the indices do not broadcast, or the values do not broadcast to the places.
    """
    places = as_places(indices, where)
    if values.dtype != x.dtype and values.ndim:
        raise DataTypeError(where, f"values of the input's type {x.dtype}", values.dtype)
    result = np.array(x)
    try:
        if accumulate:
            np.add.at(result, places, values)
        else:
            result[places] = values
    except IndexError as error:
        raise wrong_places(error, x.shape, indices, where) from None
    except ValueError:
        raise ShapeError(where, "values that broadcast to the places", values.shape) from None
    return result
