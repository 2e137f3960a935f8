"""The softmax of bytes: QLinearSoftmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import axis_of, decline_if
from kuiper.engine.kernels.byte_softmax import ByteSoftmax
from kuiper.engine.lowering.byte_values import as_byte_rows, by_name, bytes_on_arena, number_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.onnx_contrib_quantized import QLinearSoftmax, exponentials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array

_OPERATIONS = 4  # for each number


@lowers(QLinearSoftmax)
def lower_softmax_of_bytes(layer: QLinearSoftmax, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Along any axis, which is the last one or comes there."""
    given = by_name(layer, inputs, "X X_scale X_zero_point Y_scale Y_zero_point")
    x_scale, y_scale, zero = (number_of(given, name) for name in ("X_scale", "Y_scale", "Y_zero_point"))
    x = bytes_on_arena(builder, given["X"])
    decline_if(None in (x_scale, y_scale, zero) or not len(x.shape) <= MAX_NDIM)
    decline_if(not 0 < x_scale < np.inf or not 0 < y_scale < np.inf)
    along = axis_of(layer.axis, len(x.shape))
    size = math.prod(x.shape[along:]) if layer.flattens else x.shape[along]
    table, steps = exponentials(np.float32(x_scale), max(size, 1)), np.floor(np.float32(1) / np.float32(y_scale))
    with np.errstate(over="ignore"):
        decline_if(not np.isfinite(table[-1] * steps))  # what is more than a float holds is the layer's to say
    if layer.flattens:
        dense = builder.typed(x.shape, x.view.dtype)
        emit_typed(builder, "copy", dense, [x])
        lying = Value(dense.buffer, dense.view.reshape(-1, size))
    else:
        lying = Value(x.buffer, np.moveaxis(x.view, along, -1))
    out = builder.typed(lying.shape, x.view.dtype)
    _emit(builder, lying, out, table, float(steps), int(zero))
    view = out.view.reshape(x.shape) if layer.flattens else np.moveaxis(out.view, -1, along)
    return [Value(out.buffer, view)]


def _emit(builder: Builder, x: Value, out: Value, table: Array, steps: float, zero: int) -> None:
    """Add the step along the last axis."""
    rows = as_byte_rows(builder, x)
    count, size = rows.shape
    dtype, limits = x.view.dtype, np.iinfo(x.view.dtype)

    def make() -> ByteSoftmax:
        places = {"x": rows.byte_offset, "x_row": rows.view.strides[0], "out": out.byte_offset, "out_row": size}
        ends = {"low": limits.min - zero, "high": limits.max - zero, "zero": zero}
        sizes = {"rows": count, "size": size, "flip": 128 if dtype == np.int8 else 0}
        return ByteSoftmax({**places, **ends, **sizes, "steps": steps}, table)

    builder.emit("softmax of bytes", make, reads=[rows], writes=[out], flops=_OPERATIONS * x.view.size)
