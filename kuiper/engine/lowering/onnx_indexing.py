"""ONNX's Gather and GatherND: entries picked by indices of any shape.

    Gather along axis 1     x (a, n, b), indices (i, j)  ->  out (a, i, j, b)    out[a, i, j, b] = x[a, index[i, j], b]
    GatherND, known sizes   x (m, n, b), indices (i, 2)  ->  out (i, b)          one index into x as (m * n, b)

The second is how exporters pick a mask's entries: from indices that they compute from sizes, which a plan knows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import Declined, axis_of, decline_if, known_examples
from kuiper.engine.kernels.typed import TYPES, Typed
from kuiper.engine.lowering.pick import Source, emit_pick, is_index, picked
from kuiper.engine.lowering.placement import view_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.planned_step import StepKind
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import end_of
from kuiper.engine.values import AnyValue, PythonValue, Value, is_known
from kuiper.errors import KuiperError
from kuiper.layers.operators.onnx_indexing import GatherND, OnnxGather, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(OnnxGather)
def lower_onnx_gather(layer: OnnxGather, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Gather whose indices are an operand, or are known."""
    decline_if(len(inputs) != 2)
    if not inputs[1].shape:
        return [_entry(builder, layer.axis, inputs[0], inputs[1])]
    x, index = _picked_from(builder, inputs), builder.tensor(inputs[1])
    axis = axis_of(layer.axis, x.view.ndim)
    decline_if(not is_index(index) or x.view.ndim - 1 + index.view.ndim > MAX_NDIM)
    return [_along(builder, x, axis, index)]


@lowers(GatherND)
def lower_gather_nd(layer: GatherND, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """GatherND whose indices are known, of axes that one index can count through."""
    x, (indices,) = _picked_from(builder, inputs), known_examples(inputs[1:])
    fits = isinstance(indices, np.ndarray) and indices.ndim >= 2 and 0 < indices.shape[-1] <= x.view.ndim
    decline_if(layer.batch or not fits)
    axes = indices.shape[-1]
    joined = view_of(x, x.view.reshape(-1, *x.shape[axes:]))
    if joined is None or indices.ndim - 1 + x.view.ndim - axes > MAX_NDIM:
        raise Declined
    try:
        found = places(x.shape, indices)
    except KuiperError as error:  # the layer raises it, too
        raise Declined from error
    flat = np.ravel_multi_index(tuple(found), x.shape[:axes], mode="wrap")
    return [_along(builder, joined, 0, builder.typed_constant(np.ascontiguousarray(flat, np.int64)))]


def _entry(builder: Builder, axis: int, x: AnyValue, given: AnyValue) -> AnyValue:
    """One entry of an axis of an array from outside, by a number from outside: what the turn of a loop takes.

    The array stays where it is, since only that entry is read.
    """
    index = _number(builder, given)
    if not isinstance(x, PythonValue) or x.constant or not isinstance(x.example, np.ndarray):
        raise Declined
    rank, dtype = x.example.ndim, x.example.dtype
    dim = axis_of(axis, rank)
    decline_if(not 1 < rank <= MAX_NDIM or dtype.name not in TYPES or x.example.size == 0)
    strides = [dtype.itemsize * math.prod(x.shape[i + 1 :]) for i in range(rank)]  # what is outside lies in C order
    binding = builder.bind(x)
    left = strides[:dim] + strides[dim + 1 :]
    first = (binding[0], 0, TYPES[dtype.name], tuple(left))
    source = Source(lambda: strides[dim], x.shape[dim], dtype, lambda: first, (), from_end=True)
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    everywhere = Value(index.buffer, index.view.reshape([1] * len(shape)))
    return emit_pick(builder, source, everywhere, shape, [binding])


def _number(builder: Builder, value: AnyValue) -> Value:
    """An integer from outside without axes, on the arena as a vector of one."""
    if not isinstance(value, PythonValue) or value.constant or not isinstance(value.example, np.ndarray):
        raise Declined
    dtype = value.example.dtype
    decline_if(dtype not in (np.int64, np.int32))

    def made() -> Value:
        target, binding = builder.typed((1,), dtype), builder.bind(value)
        outside = (binding[0], 0, TYPES[dtype.name], (dtype.itemsize,))
        builder.emit(
            "import",
            lambda: Typed("copy", (1,), [end_of(target, (1,)), outside], floating=False),
            writes=[target],
            bindings=[binding],
            more_bytes=dtype.itemsize,
            kind=StepKind.IMPORT,
        )
        return target

    return builder.in_form(value, "a vector of one", made)


def _picked_from(builder: Builder, inputs: list[AnyValue]) -> Value:
    """What is picked from: no weight, which would get a place in every arena."""
    decline_if(is_known(inputs[0]) or not inputs[0].shape)
    return builder.tensor(inputs[0])


def _along(builder: Builder, x: Value, dim: int, index: Value) -> Value:
    """``x`` with an axis in the place of which stand those of the index."""
    shape = (*x.shape[:dim], *index.shape, *x.shape[dim + 1 :])
    first = x.view[(slice(None),) * dim + (0, *(None for _ in index.shape))]
    along = index.view.reshape(*index.shape, *(1 for _ in x.shape[dim + 1 :]))
    return picked(builder, x, dim, first, Value(index.buffer, along), shape, from_end=True)
