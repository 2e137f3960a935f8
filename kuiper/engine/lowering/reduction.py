"""Sums, means and lengths over axes: products with a vector of ones, or sums of a few slices.

    over the axis whose numbers are side by side    x (rows, k) @ ones (k, 1)
    over another                                    ones (1, k) @ x (k, columns)
    over up to eight entries                        slice + slice + ...

The global average of an image is a pooling; see pooling.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.expression_code import Code
from kuiper.engine.kernels.elementwise import MAX_OPERANDS
from kuiper.engine.lowering.elementwise import emit_elementwise
from kuiper.engine.lowering.matmul import emit_product
from kuiper.engine.lowering.placement import memory_by_rows, view_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, Value, narrow
from kuiper.layers.operators.norm import Norm
from kuiper.layers.operators.sum import Sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder

_SQUARE, _ROOT = (Code((("load", 0, 0), (name, 0, 0)), (0,)) for name in ("square", "sqrt"))


@lowers(Sum)
def lower_sum(layer: Sum, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.sum."""
    return lower_reduction(layer, inputs, builder, mean=False)


@lowers(Norm)
def lower_norm(layer: Norm, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.norm with p = 2: the root of a sum of squares."""
    decline_if(layer.p != 2)
    lengths = lower_reduction(layer, inputs, builder, mean=False, squares=True)
    emit_elementwise(builder, _ROOT, lengths, lengths[0])
    return lengths


def lower_reduction(
    layer: Any, inputs: list[AnyValue], builder: Builder, mean: bool, squares: bool = False
) -> list[Value]:
    """The sum or mean over the layer's axes, of ``squares`` or of the numbers, if they can be seen as one axis."""
    x = builder.on_arena(inputs[0])
    decline_if(layer.dtype is not None or not 2 <= x.view.ndim <= MAX_NDIM)
    rank = x.view.ndim
    dims = sorted({dim % rank for dim in layer.dims if -rank <= dim < rank})
    decline_if(len(dims) != len(layer.dims) or not 0 < len(dims) < rank)
    kept = [axis for axis in range(rank) if axis not in dims]
    count = math.prod(x.shape[dim] for dim in dims)
    joined = view_of(x, x.view.transpose([*kept, *dims]).reshape([*(x.shape[axis] for axis in kept), count]))
    if joined is None:
        raise Declined
    if squares:
        squared = memory_by_rows(builder, joined.shape, fixed=True)
        emit_elementwise(builder, _SQUARE, [joined], squared)
        joined = squared
    out = _reduced(builder, joined, 1 / count if mean else 1.0)
    return [Value(out.buffer, np.expand_dims(out.view, tuple(dims)) if layer.keepdim else out.view)]


def _reduced(builder: Builder, x: Value, scale: float) -> Value:
    """``scale`` times the sum of ``x`` (..., k) over its last axis; declines if that would take many small products."""
    count = x.shape[-1]
    if x.strides[-1] == 1:
        return last_axis_sum(builder, x, scale)
    if count <= MAX_OPERANDS:
        out = memory_by_rows(builder, x.shape[:-1], fixed=True)
        slices = [narrow(x, x.view.ndim - 1, i, 1) for i in range(count)]
        _emit_sum(builder, [Value(part.buffer, part.view[..., 0]) for part in slices], out, scale)
        return out
    return _column_sums(builder, x, scale)


def last_axis_sum(builder: Builder, x: Value, scale: float = 1.0) -> Value:
    """``scale`` times the sum of ``x`` (..., k) over its last axis, whose numbers lie side by side."""
    out = memory_by_rows(builder, x.shape[:-1], fixed=True)
    ones = builder.constant(np.ones((x.shape[-1], 1), np.float32))
    emit_product(builder, x, ones, Value(out.buffer, out.view[..., None]), scale)
    return out


def _emit_sum(builder: Builder, terms: Sequence[Value], out: Value, scale: float) -> None:
    loads = [("load", i, 0) for i in range(len(terms))]
    more = [instruction for load in loads[1:] for instruction in (load, ("add", 0, 0))]
    code = Code((loads[0], *more, ("constant", scale, 0), ("mul", 0, 0)), tuple(range(len(terms))))
    emit_elementwise(builder, code, terms, out)


def _column_sums(builder: Builder, x: Value, scale: float) -> Value:
    """The sum of ``x`` over its last axis, where another has its numbers side by side: rows of ones, times columns."""
    order = sorted(range(x.view.ndim - 1), key=lambda axis: -x.strides[axis])
    turned = x.view.transpose([*order, x.view.ndim - 1])
    decline_if(turned.strides[-2] != 4)
    shape = turned.shape[:-1]
    out = builder.rows(shape, fixed=True, padded=False)
    columns = view_of(x, turned.reshape(-1, turned.shape[-1])) if len(shape) > 1 else None
    source = turned if columns is None else columns.view
    target = out.view if columns is None else out.view.reshape(-1)
    ones = builder.constant(np.ones((1, turned.shape[-1]), np.float32))
    emit_product(
        builder, ones, Value(x.buffer, source.swapaxes(-1, -2)), Value(out.buffer, target[..., None, :]), scale
    )
    return Value(out.buffer, out.view.transpose([order.index(axis) for axis in range(len(order))]))
