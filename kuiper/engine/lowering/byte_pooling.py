"""Pools of bytes: MaxPool, QLinearAveragePool and QLinearGlobalAveragePool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.kernels.byte_pooling import ByteMean, BytePooling, ByteWindowMean
from kuiper.engine.lowering.byte_values import (
    as_byte_image,
    by_name,
    byte_image,
    bytes_on_arena,
    has_even_pixels,
    image_places,
    number_of,
)
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.errors import KuiperError
from kuiper.layers.operators.onnx_contrib_quantized import QLinearAveragePool, QLinearGlobalAveragePool
from kuiper.layers.operators.onnx_pool import OnnxMaxPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window


@lowers(OnnxMaxPool)
def lower_max_pool_of_bytes(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The largest byte of each window of an image."""
    decline_if(len(layer.op.outputs) != 1)
    x = bytes_on_arena(builder, inputs[0])
    window, sizes = _placed(layer, x)
    image = as_byte_image(builder, x)
    out = byte_image(builder, (*image.shape[:2], *sizes), x.view.dtype)

    def make() -> BytePooling:
        return BytePooling({**_geometry(window, image, out), "flip": _flip(x)})

    builder.emit(
        "max pooling of bytes",
        make,
        reads=[image],
        writes=[out],
        flops=out.view.size * window.kernel[0] * window.kernel[1],
    )
    return [out]


def _placed(layer: Any, x: Value) -> tuple[Window, tuple[int, int]]:
    """The windows on an image, and the sizes of what they give."""
    decline_if(len(x.shape) != 4 or len(layer.window.written.kernel) != 2)
    try:
        window = layer.window.placed(x.shape[2:])
        return window, window.output_size(x.shape[2:])
    except KuiperError as error:  # the layer raises it, too
        raise Declined from error


def _geometry(window: Window, image: Value, out: Value) -> dict[str, int]:
    """For a kernel: the windows on an image."""
    (n, c, h, w), (out_h, out_w) = image.shape, out.shape[2:]
    return {
        "images": n, "in_h": h, "in_w": w, "out_h": out_h, "out_w": out_w, "channels": c,
        "kernel_h": window.kernel[0], "kernel_w": window.kernel[1],
        "stride_h": window.stride[0], "stride_w": window.stride[1],
        "pad_top": window.before[0], "pad_left": window.before[1],
        "dilation_h": window.dilation[0], "dilation_w": window.dilation[1],
        **image_places("x", image), "out": out.byte_offset,
    }  # fmt: skip


def _flip(x: Value) -> int:
    """What makes bytes without a sign of bytes."""
    return 128 if x.view.dtype == np.int8 else 0


@lowers(QLinearAveragePool)
def lower_mean_of_windows(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The mean of each window of an image of bytes, whichever axis its channels are."""
    given = by_name(layer, inputs, "X x_scale x_zero_point y_scale y_zero_point")
    numbers = [number_of(given, f"{end}_{what}") for what in ("scale", "zero_point") for end in "xy"]
    x = bytes_on_arena(builder, given["X"])
    decline_if(None in numbers or len(x.shape) != 4)
    turned = Value(x.buffer, x.view.transpose(0, 3, 1, 2)) if layer.channels_last else x
    window, sizes = _placed(layer, turned)
    image, limits = as_byte_image(builder, turned), np.iinfo(x.view.dtype)
    out = byte_image(builder, (*image.shape[:2], *sizes), x.view.dtype)
    counts = _taps_that_count(window, image.shape[2:], sizes, layer.op.bool_param("count_include_pad", False))
    x_scale, y_scale, x_zero, y_zero = map(float, numbers)

    def make() -> ByteWindowMean:
        ends = {"zero": int(x_zero), "scale": x_scale, "out_scale": y_scale, "out_zero": y_zero}
        bounds = {"low": float(limits.min), "high": float(limits.max)}
        return ByteWindowMean({**_geometry(window, image, out), "flip": _flip(x), **ends, **bounds}, *counts)

    taps = out.view.size * window.kernel[0] * window.kernel[1]
    builder.emit("mean pooling of bytes", make, reads=[image], writes=[out], flops=2 * taps)
    return [Value(out.buffer, out.view.transpose(0, 2, 3, 1)) if layer.channels_last else out]


def _taps_that_count(window: Window, sizes: Sequence[int], outputs: Sequence[int], with_borders: bool) -> list[Array]:
    """Along each axis, for each place of the window, how many of its taps count: in the image, or its border, too."""
    counts = []
    for axis, (size, count) in enumerate(zip(sizes, outputs, strict=True)):
        before, after = (window.before[axis], window.after[axis]) if with_borders else (0, 0)
        taps = np.arange(window.kernel[axis]) * window.dilation[axis] - window.before[axis]
        places = np.arange(count)[:, None] * window.stride[axis] + taps
        counts.append(((places >= -before) & (places < size + after)).sum(axis=1).astype(np.float32))
    return counts


@lowers(QLinearGlobalAveragePool)
def lower_mean_of_bytes(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """The mean over both axes of an image."""
    given = by_name(layer, inputs, "X x_scale x_zero_point y_scale y_zero_point")
    x_scale, y_scale, x_zero, y_zero = (
        number_of(given, f"{end}_{what}") for what in ("scale", "zero_point") for end in "xy"
    )
    decline_if(layer.op.bool_param("channels_last", False) or None in (x_scale, x_zero, y_scale, y_zero))
    x = bytes_on_arena(builder, given["X"])
    decline_if(len(x.shape) != 4)
    image = as_byte_image(builder, x)
    n, c, h, w = image.shape
    decline_if(not has_even_pixels(image.view))
    out, limits = byte_image(builder, (n, c, 1, 1), x.view.dtype), np.iinfo(x.view.dtype)
    ratio = np.float32(x_scale) / (np.float32(y_scale) * np.float32(h * w))
    scale: Array = np.full(c, ratio, np.float32)

    def make() -> ByteMean:
        numbers: dict[str, float] = {
            "pixels": h * w, "channels": c, "zero": int(x_zero), **image_places("x", image), "out": out.byte_offset,
            "x_signed": x.view.dtype == np.int8, "low": limits.min - int(y_zero), "high": limits.max - int(y_zero),
            "out_zero": int(y_zero),
        }  # fmt: skip
        return ByteMean(numbers, n, scale)

    builder.emit("mean of bytes", make, reads=[image], writes=[out], flops=image.view.size)
    return [out]
