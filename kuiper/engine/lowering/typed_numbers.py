"""Whole numbers and bools on the arena: how they come and go, and steps that compute with them element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.typed import TYPES, Typed
from kuiper.engine.lowering.layout import ARENA
from kuiper.engine.values import HostValue, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner

# Operands and results that are loaded or stored, per cycle.
_SPEED = 0.55

_MOST_AXES = 6

End = tuple[int, int, int, tuple[int, ...]]
"""Where a tensor lies: an external or the arena, the offset in bytes, its type, and strides in bytes."""


def import_typed(planner: Planner, value: HostValue) -> Value:
    """An array of whole numbers or bools from outside on the arena."""
    if value.constant:
        return planner.typed_constant(value.example)
    target = planner.typed(value.example.shape, value.example.dtype)
    external = planner.external(value)
    shape, strides = target.shape, target.view.strides

    def make() -> Typed:
        outside = (external[0], 0, TYPES[target.view.dtype.name], strides)
        return Typed("copy", shape, [end_of(target, shape), outside], floating=False)

    planner.emit("import", make, writes=[target], externals=[external], more_bytes=target.view.nbytes)
    return target


def export_typed(planner: Planner, value: Value) -> HostValue:
    """A tensor of whole numbers or bools on the arena as an array of its own, in C order."""
    example = np.empty(value.shape, value.view.dtype)
    result = planner.host_value(example)
    external = planner.external(result)

    def make() -> Typed:
        outside = (external[0], 0, TYPES[example.dtype.name], example.strides)
        return Typed("copy", value.shape, [outside, end_of(value, value.shape)], floating=False)

    planner.emit("export", make, reads=[value], externals=[external], more_bytes=example.nbytes)
    return result


def emit_typed(planner: Planner, operation: str, out: Value, operands: Sequence[Value]) -> None:
    """Add ``out = operation(operands)``; the operands broadcast with ``out``, which has at most six axes."""
    counted = operands[1:] if operation == "where" else operands
    floating = any(operand.is_float for operand in counted)
    shape = out.shape
    planner.emit(
        operation,
        lambda: Typed(operation, shape, [end_of(out, shape), *(end_of(value, shape) for value in operands)], floating),
        reads=operands,
        writes=[out],
        flops=out.view.size,
        expected=out.view.size * (1 + len(operands)) / _SPEED,
    )


def end_of(value: Value, shape: tuple[int, ...]) -> End:
    """Where it lies, seen as a tensor of this shape with which it broadcasts."""
    strides = np.broadcast_to(value.view, shape).strides
    return ARENA, value.byte_offset, TYPES[value.view.dtype.name], strides


def memory_like(planner: Planner, operands: Sequence[Value], shape: tuple[int, ...], dtype: np.dtype) -> Value:
    """Memory for a result of these operands: channels last if one of them, as large as the result, is."""
    whole = [value for value in operands if value.shape == shape]
    channels_last = len(shape) == 4 and any(
        shape[1] > 1 and value.view.strides[1] == value.view.itemsize for value in whole
    )
    if dtype == np.float32:
        return planner.image(shape, exact=True) if channels_last else planner.rows(shape, padded=False, exact=True)
    if not channels_last:
        return planner.typed(shape, dtype)
    n, c, h, w = shape
    out = planner.typed((n, h, w, c), dtype)
    return Value(out.storage, out.view.transpose(0, 3, 1, 2))


def common_shape(operands: Sequence[Value]) -> tuple[int, ...] | None:
    """What they broadcast to; None if they do not, or it has too many axes."""
    try:
        shape = np.broadcast_shapes(*(value.shape for value in operands))
    except ValueError:
        return None
    return shape if len(shape) <= _MOST_AXES else None
