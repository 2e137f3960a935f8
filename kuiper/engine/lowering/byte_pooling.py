"""Sums and pools of bytes: QLinearAdd, MaxPool and QLinearGlobalAveragePool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.kernels.byte_pooling import ByteMean, BytePooling
from kuiper.engine.kernels.byte_sum import ByteSum
from kuiper.engine.lowering.byte_values import (
    as_byte_image,
    by_name,
    byte_image,
    bytes_on_arena,
    constant_of,
    has_even_pixels,
    image_places,
)
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed, memory_like
from kuiper.errors import KuiperError
from kuiper.layers.fused.quantized import QuantizedAdd
from kuiper.layers.operators.onnx_contrib_quantized import QLinearArithmetic, QLinearGlobalAveragePool, fused
from kuiper.layers.operators.onnx_pool import OnnxMaxPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.planner import Planner
    from kuiper.engine.values import AnyValue, Value
    from kuiper.layers.layer import Array


@lowers(QuantizedAdd)
def lower_quantized_add(layer: QuantizedAdd, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """What a pass has made of a sum of floats."""
    scales = [np.float32(scale) for scale in layer.scales]
    return _added(planner, inputs[0], inputs[1], scales, [*layer.zeros, int(layer.zero)])


@lowers(QLinearArithmetic)
def lower_qlinear_add(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """QLinearAdd of tensors of one shape."""
    names = "A A_scale A_zero_point B B_scale B_zero_point C_scale C_zero_point"
    given = by_name(layer, inputs, names)
    scales = [_number(given, f"{word}_scale") for word in "ABC"]
    zeros = [_number(given, f"{word}_zero_point") for word in "ABC"]
    if layer.op.type != "QLinearAdd" or None in scales or None in zeros:
        return None
    return _added(
        planner, given["A"], given["B"], [np.float32(scale) for scale in scales], [int(zero) for zero in zeros]
    )


def _number(given: dict[str, AnyValue], name: str) -> Any:
    """The one number of a constant scale or zero point, 0 if there is none; None if it is no such constant."""
    if name not in given:
        return 0
    numbers = constant_of(given[name])
    return None if numbers is None or numbers.size != 1 else numbers.reshape(-1)[0]


def _added(
    planner: Planner, a: AnyValue, b: AnyValue, scales: list[np.float32], zeros: list[int]
) -> Sequence[AnyValue] | None:
    first, second = bytes_on_arena(planner, a), bytes_on_arena(planner, b)
    if first is None or second is None or first.shape != second.shape or first.view.dtype != second.view.dtype:
        return None
    dtype, limits = first.view.dtype, np.iinfo(first.view.dtype)
    ratio_a, ratio_b = scales[0] / scales[2], scales[1] / scales[2]
    fixed = np.float32(zeros[2]) - fused(ratio_a, zeros[0], ratio_b * np.float32(zeros[1]))
    out = memory_like(planner, [first, second], first.shape, dtype)
    x, y = _laid_out_like(planner, first, out), _laid_out_like(planner, second, out)

    def make() -> ByteSum:
        return ByteSum({
            "a": x.byte_offset, "b": y.byte_offset, "out": out.byte_offset, "count": out.view.size,
            "ratio_a": float(ratio_a), "ratio_b": float(ratio_b), "fixed": float(fixed),
            "low": limits.min, "high": limits.max, "flip": 128 if dtype == np.int8 else 0,
        })  # fmt: skip

    planner.emit("sum of bytes", make, reads=[x, y], writes=[out], flops=4 * out.view.size)
    return [out]


def _laid_out_like(planner: Planner, x: Value, out: Value) -> Value:
    """The value with the strides of another one of its shape, along axes longer than 1: itself, or a copy."""
    axes = zip(x.shape, x.view.strides, out.view.strides, strict=True)
    if all(stride == wanted for size, stride, wanted in axes if size > 1):
        return x
    copied = memory_like(planner, [out], x.shape, x.view.dtype)
    emit_typed(planner, "copy", copied, [x])
    return copied


@lowers(OnnxMaxPool)
def lower_max_pool_of_bytes(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """The largest byte of each window of an image."""
    if len(layer.op.outputs) != 1 or len(inputs[0].shape) != 4 or len(layer.window.kernel) != 2:
        return None
    try:
        window = layer.window.placed(inputs[0].shape[2:])
        out_h, out_w = window.output_sizes(inputs[0].shape[2:])
    except KuiperError:
        return None  # the layer says why
    x = bytes_on_arena(planner, inputs[0])
    if x is None:
        return None
    image = as_byte_image(planner, x)
    n, c, h, w = image.shape
    out = byte_image(planner, (n, c, out_h, out_w), x.view.dtype)

    def make() -> BytePooling:
        return BytePooling({
            "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": c,
            "kernel_h": window.kernel[0], "kernel_w": window.kernel[1],
            "stride_h": window.strides[0], "stride_w": window.strides[1],
            "pad_top": window.before[0], "pad_left": window.before[1],
            "dilation_h": window.dilations[0], "dilation_w": window.dilations[1],
            **image_places("x", image), "out": out.byte_offset, "flip": 128 if x.view.dtype == np.int8 else 0,
        })  # fmt: skip

    planner.emit(
        "max pooling of bytes",
        make,
        reads=[image],
        writes=[out],
        flops=out.view.size * window.kernel[0] * window.kernel[1],
    )
    return [out]


@lowers(QLinearGlobalAveragePool)
def lower_mean_of_bytes(layer: Any, inputs: list[AnyValue], planner: Planner) -> Sequence[AnyValue] | None:
    """The mean over both axes of an image."""
    given = by_name(layer, inputs, "X x_scale x_zero_point y_scale y_zero_point")
    x_scale, y_scale, x_zero, y_zero = (
        _number(given, f"{end}_{what}") for what in ("scale", "zero_point") for end in "xy"
    )
    if layer.op.bool_param("channels_last", False) or None in (x_scale, x_zero, y_scale, y_zero):
        return None
    x = bytes_on_arena(planner, given["X"])
    if x is None or len(x.shape) != 4:
        return None
    image = as_byte_image(planner, x)
    n, c, h, w = image.shape
    if not has_even_pixels(image.view):
        return None
    out, limits = byte_image(planner, (n, c, 1, 1), x.view.dtype), np.iinfo(x.view.dtype)
    ratio = np.float32(x_scale) / (np.float32(y_scale) * np.float32(h * w))
    scale: Array = np.full(c, ratio, np.float32)

    def make() -> ByteMean:
        numbers: dict[str, float] = {
            "pixels": h * w, "channels": c, "zero": int(x_zero), **image_places("x", image), "out": out.byte_offset,
            "x_signed": x.view.dtype == np.int8, "low": limits.min - int(y_zero), "high": limits.max - int(y_zero),
            "out_zero": int(y_zero),
        }  # fmt: skip
        return ByteMean(numbers, n, scale)

    planner.emit("mean of bytes", make, reads=[image], writes=[out], flops=image.view.size)
    return [out]
