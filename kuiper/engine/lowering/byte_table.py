"""Functions of bytes by a table: QLinearSigmoid, QLinearLeakyRelu, the parts of QLinearConcat, and those of passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import axis_of, decline_if
from kuiper.engine.kernels.byte_table import ByteTable
from kuiper.engine.lowering.byte_values import BYTES, by_name, bytes_on_arena, constant_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import memory_like
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.fused.quantized import ByteTable as ByteTableLayer
from kuiper.layers.operators.onnx_contrib_quantized import QLinearActivation, QLinearConcat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array


@lowers(QLinearActivation)
def lower_activation_of_bytes(layer: QLinearActivation, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The table is what the layer makes of all bytes."""
    given = by_name(layer, inputs, "X X_scale X_zero_point Y_scale Y_zero_point")
    x, numbers = bytes_on_arena(builder, given["X"]), _numbers(given, "X")
    decline_if(len(x.shape) > MAX_NDIM)
    out = memory_like(builder, [x], x.shape, x.view.dtype)
    _emit_table(builder, x, out, layer.compute({**numbers, "X": _every_byte(x.view.dtype)}))
    return [out]


@lowers(ByteTableLayer)
def lower_byte_table(layer: ByteTableLayer, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """What a pass has made of functions of floats."""
    x = bytes_on_arena(builder, inputs[0])
    decline_if(x.view.dtype != layer.of or len(x.shape) > MAX_NDIM)
    out = memory_like(builder, [x], x.shape, layer.table.dtype)
    _emit_table(builder, x, out, layer.table)
    return [out]


@lowers(QLinearConcat)
def lower_concat_of_bytes(layer: QLinearConcat, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Each part goes to its place by a table of its own, which the layer makes."""
    found = [bytes_on_arena(builder, value) for value in inputs[2::3]]
    scales = _single([constant_of(value) for value in (*inputs[:2], *inputs[3::3], *inputs[4::3])])
    axis = axis_of(layer.op.int_param("axis"), len(found[0].shape))
    shape = _joined_shape(found, axis)
    ends = {scales[1].dtype, *(part.view.dtype for part in found)}
    decline_if(len(ends) > 1 or scales[1].dtype not in BYTES)
    start, count = 0, len(found)
    out = _whole(builder, found, shape)
    for k, part in enumerate(found):
        end = start + part.shape[axis]
        place = Value(out.buffer, out.view[(slice(None),) * axis + (slice(start, end),)])
        every = _every_byte(part.view.dtype).reshape(-1, *[1] * (len(shape) - 1))
        _emit_table(builder, part, place, layer.forward(*scales[:2], every, scales[2 + k], scales[2 + count + k]))
        start = end
    return [out]


def _numbers(given: dict[str, AnyValue], but: str) -> dict[str, Array]:
    """The inputs but the one of this name, which are to be constants of one number."""
    names = [name for name in given if name != but]
    return dict(zip(names, _single([constant_of(given[name]) for name in names]), strict=True))


def _single(constants: Sequence[Array | None]) -> list[Array]:
    """Constants that all are there, and have one number each."""
    found = [number for number in constants if number is not None]
    decline_if(len(found) < len(constants) or any(number.size != 1 for number in found))
    return found


def _joined_shape(parts: Sequence[Value], axis: int) -> tuple[int, ...]:
    """The shape of tensors side by side along an axis."""
    first = parts[0].shape
    decline_if(len(first) > MAX_NDIM)
    others = {(*part.shape[:axis], *part.shape[axis + 1 :]) for part in parts}
    decline_if(others != {(*first[:axis], *first[axis + 1 :])})
    return (*first[:axis], sum(part.shape[axis] for part in parts), *first[axis + 1 :])


def _whole(builder: Builder, parts: Sequence[Value], shape: tuple[int, ...]) -> Value:
    """Memory for tensors side by side: channels last if those of one of them are."""
    dtype = parts[0].view.dtype
    in_pixels = len(shape) == 4 and any(part.view.strides[1] == 1 < part.shape[1] for part in parts)
    if not in_pixels:
        return builder.typed(shape, dtype)
    n, c, h, w = shape
    out = builder.typed((n, h, w, c), dtype)
    return Value(out.buffer, out.view.transpose(0, 3, 1, 2))


def _every_byte(dtype: np.dtype) -> Array:
    return np.arange(256, dtype=np.uint8).view(dtype)


def _emit_table(builder: Builder, x: Value, out: Value, made: Array) -> None:
    """Add the step; ``made`` has what becomes of every byte."""
    table = np.ascontiguousarray(made.reshape(-1)).view(np.uint8)

    def make() -> Step:
        ends = [(value.byte_offset, value.view.strides) for value in (x, out)]
        return ByteTable(x.shape, ends[0], ends[1], table)

    builder.emit("bytes by a table", make, reads=[x], writes=[out], more_bytes=table.nbytes)
