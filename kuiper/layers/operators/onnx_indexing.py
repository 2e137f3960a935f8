"""Operators that pick and place entries by index, in ONNX's spelling: Gather, GatherND, ScatterND, ScatterElements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, TensorIndexError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.embedding import check_indices
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("Gather")
class OnnxGather(Layer):
    """The entries of one axis that the second input, or the parameter, names; its shape takes the place of the axis.

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

    The first ``batch_dims`` axes of both inputs belong together, and have no index.

    Source: ONNX, GatherND.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.batch = op.int_param("batch_dims", 0)
        if self.batch < 0:
            raise ParameterError(op.where, "batch_dims >= 0", self.batch)

    def forward(self, x: Array, indices: Array) -> Array:
        self.expect(indices.ndim > self.batch, f"indices with more than {self.batch} axes", indices.shape)
        common = x.shape[: self.batch]
        self.expect(indices.shape[: self.batch] == common, f"indices ({common}, ...)", indices.shape)
        inner = places(x.shape[self.batch :], indices, self.op.where)
        outer = [grid.reshape(*grid.shape, *[1] * (indices.ndim - 1 - self.batch)) for grid in _grid(common)]
        chosen = (*outer, *inner)
        return np.asarray(x[chosen])


def _grid(shape: tuple[int, ...]) -> list[Array]:
    """The index of each place of a shape, one array for each axis."""
    return list(np.indices(shape)) if shape else []


_REDUCTIONS: dict[str, np.ufunc] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


class _Scatter(Layer):
    """What writes updates to places of a copy of the input, or combines them with what is there."""

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        reduction = op.str_param("reduction", "none")
        if reduction not in ("none", *_REDUCTIONS):
            raise self.unsupported(f"reduction none, {', '.join(_REDUCTIONS)}", reduction)
        self.combine = _REDUCTIONS.get(reduction)

    def written(self, x: Array, chosen: tuple[Array, ...], updates: Array) -> Array:
        """A copy of ``x`` with the updates at these places, in their order."""
        self.expect(updates.dtype == x.dtype, f"updates of {x.dtype}", updates.dtype)
        result: Array = np.array(x)
        if self.combine is None:
            result[chosen] = updates
        else:
            self.combine.at(result, chosen, updates)
        return result


@register("ScatterND")
class ScatterND(_Scatter):
    """The first input with entries of the third at the places that GatherND would take them from.

    ``reduction`` says how an entry meets what is there: ``none`` (it takes its place), add, mul, max, min.

    Source: ONNX, ScatterND.
    """

    def forward(self, x: Array, indices: Array | int, updates: Array) -> Array:
        given = np.asarray(indices)  # of a single index pnnx leaves only the number
        wanted = given.reshape(1, -1) if given.ndim < 2 else given
        chosen = places(x.shape, wanted, self.op.where)
        shape = wanted.shape[:-1] + x.shape[len(chosen) :]
        values = updates[None] if given.ndim < 2 and updates.shape == shape[1:] else updates
        self.expect(values.shape == shape, f"updates {shape}", updates.shape)
        return self.written(x, chosen, values)


@register("ScatterElements")
class ScatterElements(_Scatter):
    """With axis = 1: out[i, index[i, j, k], k] = updates[i, j, k]; elsewhere the output is the input.

    ``reduction`` as for ScatterND; an index may count from the end.

    Source: ONNX, ScatterElements.
    """

    def forward(self, x: Array, index: Array, updates: Array) -> Array:
        dim = axis(self.op.int_param("axis", 0), x.ndim, self.op.where)
        others = [a for a in range(x.ndim) if a != dim]
        fits = index.ndim == x.ndim > 0 and all(index.shape[a] <= x.shape[a] for a in others)
        self.expect(fits, f"an index within {x.shape} off axis {dim}", index.shape)
        inside = updates.ndim == x.ndim and all(np.less_equal(index.shape, updates.shape))
        self.expect(inside, f"updates {index.shape}", updates.shape)
        check_indices(index, x.shape[dim], self.op.where, from_end=True)
        chosen: list[Array] = list(np.indices(index.shape, sparse=True))
        chosen[dim] = index
        return self.written(x, tuple(chosen), updates[tuple(map(slice, index.shape))])


def places(shape: tuple[int, ...], indices: Array, where: str = "places") -> tuple[Array, ...]:
    """The last axis of ``indices`` as NumPy takes it: one array for each of the first axes of an array.

    >>> places((2, 3), np.array([[1, -1], [0, 2]]))
    (array([1, 0]), array([-1,  2]))

    Raises
    ------
    TensorIndexError
        If the array has fewer axes than there are indices, or an index lies outside.
    """
    sizes = np.array(shape[: indices.shape[-1]], np.int64)
    if len(sizes) < indices.shape[-1] or ((indices < -sizes) | (indices >= sizes)).any():
        raise TensorIndexError(where, f"indices into {shape}", indices.tolist())
    return tuple(np.moveaxis(indices, -1, 0))
