"""Operators that pick and place entries by index, in ONNX's spelling: Gather, GatherND, ScatterND."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import TensorIndexError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.embedding import check_indices
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Gather")
class OnnxGather(Layer):
    """The entries of one axis that the second input, or the parameter, names, in its shape.

    PNNX writes ``[2]`` as ``2``: for one index, the declared rank of the output tells whether the axis stays.

    Source: ONNX, Gather.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis = op.int_param("axis", 0)
        self.indices = op.ints_param("indices") if len(op.inputs) == 1 else ()

    def forward(self, x: Array, indices: Array | int | None = None) -> Array:
        if indices is None:
            declared = self.op.outputs[0].shape
            axis_goes = len(self.indices) == 1 and declared is not None and len(declared) == x.ndim - 1
            indices = self.indices[0] if axis_goes else np.array(self.indices)
        wanted, dim = np.asarray(indices), axis(self.axis, x.ndim, self.op.where)
        check_indices(wanted, x.shape[dim], self.op.where, from_end=True)
        return np.asarray(np.take(x, wanted, dim))


@register("GatherND")
class GatherND(Layer):
    """Entries by indices of the first axes: the last axis of the second input holds one index for each of them.

    Source: ONNX, GatherND.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.int_param("batch_dims", 0):
            raise self.unsupported("batch_dims=0", op.int_param("batch_dims"))

    def forward(self, x: Array, indices: Array) -> Array:
        return np.asarray(x[places(x, indices, self.op.where)])


@register("ScatterND")
class ScatterND(Layer):
    """The first input with entries of the third at the places that GatherND would take them from.

    Source: ONNX, ScatterND.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if op.str_param("reduction", "none") != "none":
            raise self.unsupported("reduction none", op.str_param("reduction"))

    def forward(self, x: Array, indices: Array | int, updates: Array) -> Array:
        indices = np.array(indices, ndmin=2)  # of a single index pnnx leaves only the number
        chosen = places(x, indices, self.op.where)
        shape = indices.shape[:-1] + x.shape[len(chosen) :]
        self.expect(updates.shape == shape, f"updates {shape}", updates.shape)
        result: Array = x.copy()
        result[chosen] = updates
        return result


def places(x: Array, indices: Array, where: str = "places") -> tuple[Array, ...]:
    """The last axis of ``indices`` as NumPy takes it: one array for each of the first axes of ``x``.

    >>> places(np.zeros((2, 3)), np.array([[1, -1], [0, 2]]))
    (array([1, 0]), array([-1,  2]))

    Raises
    ------
    TensorIndexError
        If ``x`` has fewer axes than there are indices, or an index lies outside.
    """
    sizes = np.array(x.shape[: indices.shape[-1]])
    if len(sizes) < indices.shape[-1] or ((indices < -sizes) | (indices >= sizes)).any():
        raise TensorIndexError(where, f"indices into {x.shape}", indices.tolist())
    return tuple(np.moveaxis(indices, -1, 0))
