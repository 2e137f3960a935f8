"""Padding of all modes: the inside is copied, then the border, one axis after the other.

    constant   v v | a b c d | v      of a number that lies in the arena, with strides 0
    replicate  a a | a b c d | d      a slice of one, with stride 0
    reflect    c b | a b c d | c      a slice that runs backwards
    circular   c d | a b c d | a      a slice

Each is a view of what has been copied already, and so a copy between two views. The second axis is padded together with
the border of the first, which makes the corners. Bytes are copied likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import answer_of, decline_if, known_examples
from kuiper.engine.lowering.byte_values import BYTES, byte_image, bytes_on_arena
from kuiper.engine.lowering.placement import memory_like
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value, narrow
from kuiper.layers.operators.onnx_cutting import OnnxPad
from kuiper.layers.operators.pad import Pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(Pad)
def lower_pad(layer: Pad, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """F.pad and the padding modules; a negative amount cuts off."""
    x = _on_arena(builder, inputs[0])
    shape = answer_of(layer, x.view).shape
    amounts = {x.view.ndim - 1 - i: (layer.pad[2 * i], layer.pad[2 * i + 1]) for i in range(len(layer.pad) // 2)}
    return [_padded(builder, x, shape, amounts, layer.mode, layer.value)]


@lowers(OnnxPad)
def lower_onnx_pad(layer: OnnxPad, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """Pad of ONNX, whose borders are known when sizes are."""
    known = known_examples(inputs[1:])
    x = _on_arena(builder, inputs[0])
    shape = answer_of(layer, x.view, *known).shape
    borders, number = layer.borders(x.view, *known)
    amounts = {axis: pair for axis, pair in enumerate(borders) if any(pair)}
    return [_padded(builder, x, shape, amounts, _MODES[layer.mode], float(number))]


_MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}
"""torch's word for ONNX's."""


def _on_arena(builder: Builder, value: AnyValue) -> Value:
    """A tensor of floats or bytes."""
    example = value.view if isinstance(value, Value) else value.example
    is_bytes = getattr(example, "dtype", None) in BYTES
    x = bytes_on_arena(builder, value) if is_bytes else builder.on_arena(value)
    decline_if(x.view.ndim > MAX_NDIM)
    return x


def _padded(
    builder: Builder,
    x: Value,
    shape: tuple[int, ...],
    amounts: dict[int, tuple[int, int]],
    mode: str,
    number: float,
) -> Value:
    """The value with these borders, by axis; declines if the layer has to make them."""
    decline_if(0 in shape)
    decline_if(any(x.shape[axis] + min(before, 0) + min(after, 0) < 1 for axis, (before, after) in amounts.items()))
    for axis, (before, after) in amounts.items():
        first = max(-before, 0)
        x = narrow(x, axis, first, x.shape[axis] - first - max(-after, 0))
    ends = {axis: (max(before, 0), max(after, 0)) for axis, (before, after) in amounts.items()}
    if not any(before or after for before, after in ends.values()):
        return x
    # a border that repeats itself, or what is cut off
    decline_if(mode == "circular" and any(max(ends[axis]) > x.shape[axis] for axis in ends))
    decline_if(mode == "reflect" and any(max(ends[axis]) >= x.shape[axis] for axis in ends))
    if x.is_float:
        out = memory_like(builder, x, shape)
    elif len(shape) == 4 and x.view.strides[1] == x.view.itemsize:
        out = byte_image(builder, shape, x.view.dtype)
    else:
        out = builder.typed(shape, x.view.dtype)
    _fill(builder, x, out, ends, mode, number)
    return out


def _fill(builder: Builder, x: Value, out: Value, ends: dict[int, tuple[int, int]], mode: str, number: float) -> None:
    """The inside and the border of ``out``; ``ends`` has the amounts before and after, of at least 0, by axis."""
    inside = out
    for axis, (before, _) in ends.items():
        inside = narrow(inside, axis, before, x.shape[axis])
    _copy(builder, x, inside)
    numbers = _numbers(builder, out, number) if mode == "constant" else None
    left = dict(ends)
    for axis, (before, after) in ends.items():
        left.pop(axis)
        line = out  # all of this axis and of those that are done, the inside of the others
        for other, (start, _) in left.items():
            line = narrow(line, other, start, x.shape[other])
        for first, count, towards in ((0, before, 1), (before + x.shape[axis], after, -1)):
            if count:
                target = narrow(line, axis, first, count)
                source = _repeated(mode, line, axis, (before, x.shape[axis]), (count, towards))
                if numbers is not None:
                    source = Value(numbers.buffer, numbers.view[tuple(slice(size) for size in target.shape)])
                _copy(builder, Value(source.buffer, np.broadcast_to(source.view, target.shape)), target)


def _copy(builder: Builder, source: Value, target: Value) -> None:
    """Add a copy of floats, or of bytes."""
    if source.is_float:
        copy_into(builder, source, target)
    else:
        emit_typed(builder, "copy", target, [source])


def _numbers(builder: Builder, out: Value, number: float) -> Value:
    """What a border of one number is copied from: a run of it along the axis whose numbers are side by side."""
    axes = range(out.view.ndim)
    shape = tuple(out.shape[axis] if out.view.strides[axis] == out.view.itemsize else 1 for axis in axes)
    run = np.full(shape, number, out.view.dtype)
    return builder.constant(run) if out.is_float else builder.typed_constant(run)


def _repeated(mode: str, line: Value, axis: int, inside: tuple[int, int], border: tuple[int, int]) -> Value:
    """What a border of ``count`` entries repeats; it lies in front of the inside (``towards`` 1) or behind it (-1)."""
    (start, size), (count, towards) = inside, border
    last = start + size - 1
    edge = start if towards == 1 else last
    if mode == "replicate":
        return narrow(line, axis, edge, 1)
    if mode == "circular":
        return narrow(line, axis, last + 1 - count if towards == 1 else start, count)
    mirrored = narrow(line, axis, start + 1 if towards == 1 else last - count, count)
    return Value(mirrored.buffer, np.flip(mirrored.view, axis))
