"""Convolutions of bytes, ConvInteger and QLinearConv: constant weights, sums of 32 bits or bytes again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.integer_packing import without_zero_point
from kuiper.engine.lowering.byte_sums import (
    Dequantisation,
    Ending,
    Requantisation,
    WholeNumbers,
    requantised,
    to_floats,
)
from kuiper.engine.lowering.byte_values import (
    as_byte_image,
    by_name,
    byte_image,
    bytes_on_arena,
    constant_of,
)
from kuiper.engine.lowering.integer_steps import IntegerLayer, ZeroPoint, emit_integer_convolution
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.errors import KuiperError
from kuiper.layers.fused.quantized import FusedConvInteger, QuantizedConv
from kuiper.layers.onnx_window import read_onnx_window
from kuiper.layers.operators.onnx_quantized import ConvInteger, DynamicQuantizeLinear, QLinearConv
from kuiper.layers.window import as_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array

_FEW_CHANNELS = 4
"""So few are brought side by side by the kernel: an image from outside needs no copy."""


@lowers(ConvInteger, QLinearConv)
def lower_integer_convolution(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """A convolution along one or two axes."""
    is_bytes = type(layer) is QLinearConv
    names = "x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B"
    given = by_name(layer, inputs, names if is_bytes else "x w x_zero_point w_zero_point")
    read, zero = _read(layer, given), zero_point(given.get("x_zero_point"))
    ending: Ending = WholeNumbers()
    if is_bytes:
        ending = requantised(given, ("x_scale", "w_scale", "y_scale"), "y_zero_point", len(read.weight))
    return [_convolved(builder, given["x"], read, zero, ending)]


@lowers(FusedConvInteger)
def lower_convolution_to_floats(
    layer: FusedConvInteger, inputs: list[AnyValue], builder: Builder
) -> Sequence[AnyValue]:
    """A convolution with the scale behind it."""
    given = dict(zip(["x", "w", "x_zero_point", "w_zero_point", "scale", "added"], inputs, strict=False))
    read, zero, behind = _read(layer, given), zero_point(given["x_zero_point"]), len(inputs[0].shape) - 2
    ending = to_floats(builder, layer, given, len(read.weight), behind)
    return [_convolved(builder, given["x"], read, zero, ending)]


@lowers(QuantizedConv)
def lower_quantized_conv(layer: QuantizedConv, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """What a pass has made of a convolution of floats."""
    product = layer.product
    read = _placed(layer, product.weight, np.zeros(1, np.int16), product.bias, inputs[0].shape)
    back = Requantisation(product.scale, int(product.zero), product.zero.dtype)
    return [_convolved(builder, inputs[0], read, ZeroPoint(int(product.x_zero)), back)]


def _convolved(builder: Builder, value: AnyValue, read: IntegerLayer, zero: ZeroPoint, ending: Ending) -> Value:
    """The output of a convolution of bytes; declines if the input has other channels, or is not of bytes."""
    x = bytes_on_arena(builder, value)
    decline_if(not 3 <= len(x.shape) <= 4 or x.shape[1] != read.weight.shape[1] * read.groups)
    image = x if len(x.shape) == 4 else Value(x.buffer, x.view[:, :, None])
    if image.shape[1] > _FEW_CHANNELS:
        image = as_byte_image(builder, image)
    h, w = image.shape[2:]
    size = read.window.output_size((h, w))
    shape = (image.shape[0], len(read.weight), *size)
    if isinstance(ending, Dequantisation):
        out = builder.image(shape) if len(x.shape) == 4 else builder.image(shape, fixed=True)
    else:
        out = byte_image(builder, shape, ending.dtype)
    result = out if len(x.shape) == 4 else Value(out.buffer, out.view[:, :, 0])
    emit_integer_convolution(builder, image, out, read, zero, ending, result if _becomes_bytes(builder) else None)
    return result


def _becomes_bytes(builder: Builder) -> bool:
    """Whether the range of the current operator's output is asked for next."""
    assert builder.op is not None
    return any(type(consumer.layer) is DynamicQuantizeLinear for consumer in builder.op.outputs[0].consumers)


def _read(layer: Any, given: dict[str, AnyValue]) -> IntegerLayer:
    """Weights, bias and window, if they are constants that fit each other and the input."""
    weight, zero, bias = (constant_of(given.get(name)) for name in ("w", "w_zero_point", "B"))
    missing = (zero is None and "w_zero_point" in given) or (bias is None and "B" in given)
    if weight is None or missing or weight.dtype.itemsize != 1:
        raise Declined
    return _placed(layer, weight, np.zeros(1, weight.dtype) if zero is None else zero, bias, given["x"].shape)


def _placed(layer: Any, weight: Array, zero: Array, bias: Array | None, shape: tuple[int, ...]) -> IntegerLayer:
    """Weights and window for an input of this shape, if they fit it."""
    axes, groups = len(shape) - 2, layer.op.int_param("group", 1)
    decline_if(weight.ndim != axes + 2 or axes not in (1, 2) or not weight.size or zero.size not in (1, len(weight)))
    decline_if(groups < 1 or len(weight) % groups or not _fits_bias(bias, len(weight)))
    try:
        window = read_onnx_window(layer.op, weight.shape[2:]).placed(shape[2:])
        window.output_size(shape[2:])
    except KuiperError as error:  # the layer raises it, too
        raise Declined from error
    if axes == 1:
        window, weight = as_row(window), weight[:, :, None]
    return IntegerLayer(without_zero_point(weight, zero), bias, groups, window)


def _fits_bias(bias: Array | None, outputs: int) -> bool:
    return bias is None or (bias.dtype == np.int32 and bias.size == outputs)


def zero_point(value: AnyValue | None) -> ZeroPoint:
    """The zero point of an input, which may be missing; declines if there are several, or it is not on the arena."""
    if value is None:
        return ZeroPoint()
    number = constant_of(value)
    if number is not None:
        decline_if(number.size != 1)
        return ZeroPoint(int(number.reshape(-1)[0]))
    if not isinstance(value, Value) or value.view.size != 1:
        raise Declined
    return ZeroPoint(0, value)
