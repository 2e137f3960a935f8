"""Floats to bytes and back: QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, axis_of, decline_if
from kuiper.engine.kernels.byte_range import ByteRange, ToBytes
from kuiper.engine.kernels.byte_scale import Dequantisation, Quantisation
from kuiper.engine.kernels.typed import TYPES, Typed
from kuiper.engine.lowering.byte_values import BYTES, RANGES, by_name, constant_of, number_of
from kuiper.engine.lowering.placement import in_c_order
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed, memory_like
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import dense, end_of
from kuiper.engine.values import AnyValue, PythonValue, Value, as_pixels, is_image
from kuiper.layers.operators.onnx_quantized import DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step

_NAMES = ("uint8", "int8")
_OF_A_SCALE = ("scale", "zero_point")
_NUMBERS_OF_A_PART = 16384


@lowers(QuantizeLinear)
def lower_quantize(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """float32 to int8 or uint8."""
    given = by_name(layer, inputs, "x y_scale y_zero_point")
    example = given["x"].view if isinstance(given["x"], Value) else given["x"].example
    decline_if(getattr(example, "dtype", None) != np.float32 or layer.to not in _NAMES or layer.precision != "float")
    return _rescaled(builder, "quantize", layer, given, "y", np.dtype(layer.to))


@lowers(DequantizeLinear)
def lower_dequantize(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """int8, uint8 or int32 to float32."""
    given = by_name(layer, inputs, "x x_scale x_zero_point")
    example = given["x"].view if isinstance(given["x"], Value) else given["x"].example
    decline_if(getattr(example, "dtype", None) not in (*BYTES, np.dtype(np.int32)))
    return _rescaled(builder, "dequantize", layer, given, "x", np.dtype(np.float32))


def _rescaled(
    builder: Builder, operation: str, layer: Any, given: dict[str, AnyValue], prefix: str, dtype: np.dtype
) -> list[Value]:
    """One step; scale and zero point are constants, or single numbers that the graph computes."""
    shape = given["x"].shape
    parts = [_spread_along(builder, given.get(f"{prefix}_{end}"), shape, layer.axis) for end in _OF_A_SCALE]
    decline_if(layer.block or not 0 < len(shape) <= MAX_NDIM or not parts[0].is_float)
    if isinstance(given["x"], PythonValue) and not given["x"].constant and operation == "quantize":
        return [_from_outside(builder, given["x"], parts, dtype)]
    x = builder.tensor(given["x"])
    out = memory_like(builder, [x], shape, dtype)
    if not _at_one_scale(builder, operation, x, out, [number_of(given, f"{prefix}_{end}") for end in _OF_A_SCALE]):
        emit_typed(builder, operation, out, [x, *parts])
    return [out]


def _at_one_scale(builder: Builder, operation: str, x: Value, out: Value, numbers: list[Any]) -> bool:
    """Add the step between floats and bytes that lie in one order, by known numbers; False if they are not so."""
    scale, zero = numbers
    numbers_of, bytes_of = (x, out) if operation == "quantize" else (out, x)
    dtype = bytes_of.view.dtype
    if scale is None or zero is None or dtype not in BYTES or not numbers_of.is_float or not _lie_alike(x, out):
        return False
    limits = np.iinfo(dtype)

    def make() -> Step:
        ends = {
            "x": x.offset if x.is_float else x.byte_offset,
            "out": out.offset if out.is_float else out.byte_offset,
        }
        bounds = {"low": limits.min - int(zero), "high": limits.max - int(zero), "zero": int(zero)}
        of_numbers = {"count": x.view.size, "scale": float(scale), "flip": 128 if dtype == np.int8 else 0}
        step = Quantisation if operation == "quantize" else Dequantisation
        return step({**ends, **bounds, **of_numbers})

    builder.emit(operation, make, reads=[x], writes=[out], flops=out.view.size)
    return True


def _lie_alike(x: Value, out: Value) -> bool:
    """Whether both have their numbers in the same order, without gaps."""
    axes = [
        (size, *(value.view.strides[axis] // value.view.itemsize for value in (x, out)))
        for axis, size in enumerate(x.shape)
        if size > 1
    ]
    step = 1
    for size, first, second in sorted(axes, key=lambda axis: axis[1]):
        if not first == second == step:
            return False
        step *= size
    return bool(x.view.size)


def _from_outside(builder: Builder, value: PythonValue, parts: list[Value], dtype: np.dtype) -> Value:
    """The bytes of an array from outside, in C order: the floats never lie on the arena."""
    shape, binding = value.shape, builder.bind(value)
    out = builder.typed(shape, dtype)

    def make() -> Step:
        outside = (binding[0], 0, TYPES["float32"], tuple(4 * stride for stride in out.view.strides))
        ends = [end_of(out, shape), outside, *(end_of(part, shape) for part in parts)]
        return Typed("quantize", shape, ends, floating=True)

    more = value.example.nbytes
    builder.emit("quantize", make, reads=parts, writes=[out], bindings=[binding], flops=out.view.size, more_bytes=more)
    return out


def _spread_along(builder: Builder, value: AnyValue | None, shape: tuple[int, ...], axis: int) -> Value:
    """A scale or a zero point as a value that broadcasts with a tensor of this shape; a missing one is 0."""
    if value is None:
        return builder.constant(np.zeros((), np.float32))
    numbers = constant_of(value)
    if numbers is None:
        if not isinstance(value, Value) or value.view.size > 1:
            raise Declined
        return Value(value.buffer, value.view.reshape(()))
    decline_if(numbers.dtype.kind == "f" and numbers.dtype != np.float32)
    if numbers.size == 1:
        return builder.constant(numbers.reshape(()).astype(np.float32))
    along = axis_of(axis, len(shape))
    decline_if(numbers.ndim != 1 or shape[along] != numbers.size)
    return builder.constant(numbers.reshape(-1, *[1] * (len(shape) - 1 - along)).astype(np.float32))


@lowers(DynamicQuantizeLinear)
def lower_dynamic_quantize(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The range of the numbers first, then the bytes."""
    return list(dynamic_bytes(builder, inputs[0]))


def dynamic_bytes(builder: Builder, value: AnyValue, spreads_nan: bool = False) -> tuple[Value, Value, Value]:
    """Floats as uint8, and the scale and the zero point that their range asks for.

    Of a range without an end the scale is NaN if that is to be spread, as operators have it that go on to compute.
    """
    x = given = in_c_order(builder, value)
    decline_if(not 0 < len(x.shape) <= MAX_NDIM)
    as_rows = x.view.transpose(0, 2, 3, 1) if is_image(x) else x.view
    rows = as_pixels(Value(x.buffer, as_rows))
    if rows is None:
        x = dense(builder, x)
        as_rows, rows = x.view, as_pixels(x)
    assert rows is not None
    ranges = builder.in_form(given, RANGES, lambda: _find_ranges(builder, rows))
    scale, zero = builder.rows((), fixed=True), builder.typed((), np.dtype(np.uint8))
    lying = builder.typed(as_rows.shape, np.dtype(np.uint8))

    def make() -> Step:
        ends = {"scale": scale.offset, "zero": zero.byte_offset, "out": lying.byte_offset}
        return ToBytes({**_places(rows, ranges), **ends, "spreads_nan": spreads_nan})

    builder.emit("quantize", make, reads=[rows, ranges], writes=[scale, zero, lying], flops=x.view.size)
    out = Value(lying.buffer, lying.view.transpose(0, 3, 1, 2)) if is_image(x) else lying
    return out, scale, zero


def _find_ranges(builder: Builder, rows: Value) -> Value:
    """The range of each part of some rows of floats, found by a step of its own."""
    parts = max(1, min(rows.shape[3], rows.view.size // _NUMBERS_OF_A_PART))
    ranges = builder.rows((2 * parts,), fixed=True)

    def make() -> Step:
        nowhere = {"scale": 0, "zero": 0, "out": 0, "spreads_nan": False}
        return ByteRange({**_places(rows, ranges), **nowhere})

    builder.emit("range of numbers", make, reads=[rows], writes=[ranges], flops=2 * rows.view.size)
    return ranges


def _places(rows: Value, ranges: Value) -> dict[str, int]:
    """Of rows of floats, and of the ranges of their parts; bytes lie as the rows do, but without gaps."""
    at = {"x": rows.offset, "row": rows.strides[3], "rows": rows.shape[3], "columns": rows.shape[1]}
    return {**at, "ranges": ranges.offset, "parts": ranges.view.size // 2}
