"""Convolutions of bytes, ConvInteger and QLinearConv: constant weights, sums of 32 bits or bytes again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.integer_packing import IntegerWeights, fits_fours, pack_depthwise, pack_integers, without_zero_point
from kuiper.engine.kernels.integer_convolution import ROWS, IntegerConvolution
from kuiper.engine.lowering.byte_sums import (
    Dequantisation,
    Ending,
    Requantisation,
    WholeNumbers,
    requantised,
    to_floats,
)
from kuiper.engine.lowering.byte_values import (
    RANGES,
    as_byte_image,
    by_name,
    byte_image,
    bytes_on_arena,
    constant_of,
    has_even_pixels,
    image_places,
)
from kuiper.engine.lowering.image_numbers import window_numbers
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value
from kuiper.errors import KuiperError
from kuiper.layers.fused.quantized import FusedConvInteger, QuantizedConv
from kuiper.layers.onnx_window import read_onnx_window
from kuiper.layers.operators.onnx_quantized import ConvInteger, DynamicQuantizeLinear, QLinearConv
from kuiper.layers.window import Window, as_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

_TASKS = 16
_FEW_CHANNELS = 4
"""So few are brought side by side by the kernel: an image from outside needs no copy."""
_PRODUCTS_OF_A_TASK = 1 << 18


@dataclass(frozen=True, slots=True)
class ZeroPoint:
    """The zero point of an input: a number, or where the graph puts it."""

    number: int = 0
    value: Value | None = None

    @property
    def numbers(self) -> dict[str, int]:
        """For a kernel."""
        return {"zero": self.number, "zero_at": -1 if self.value is None else self.value.byte_offset}


@dataclass(frozen=True, slots=True)
class IntegerLayer:
    """Weights (out_c, in_c / groups, kernel_h, kernel_w) of int16, without their zero points, and the rest."""

    weight: Array
    bias: Array | None
    groups: int
    window: Window


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
        out = builder.image(shape, exact=True) if len(x.shape) == 4 else builder.image(shape, fixed=True)
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


def emit_integer_convolution(
    builder: Builder,
    x: Value,
    out: Value,
    layer: IntegerLayer,
    zero: ZeroPoint,
    ending: Ending,
    ranged: Value | None = None,
) -> None:
    """Add the step from one image of bytes, channels side by side, to another image, of the type of the ending.

    With it come the ranges of what it writes, for ``ranged``, which is what the graph knows of the output.
    """
    window, weight = layer.window, layer.weight
    if window.is_pointwise and x.view.strides[1] == 1 and has_even_pixels(x.view) and has_even_pixels(out.view):
        x, out = _one_row(x), _one_row(out)
    n, _, out_h, out_w = out.shape
    depthwise = 1 < layer.groups == len(weight) == x.shape[1]
    fours = not depthwise and builder.machine.vnni and fits_fours(weight, layer.groups)

    def make_weights() -> IntegerWeights:
        return pack_depthwise(weight, window) if depthwise else pack_integers(weight, layer.groups, window, fours)

    packed: IntegerWeights = builder.pack(("integers", fours), make_weights)
    products = n * out_h * out_w * weight.size
    block, panel_groups = _cut(builder.machine, x, out, packed, window, products)
    tasks = n * -(-out_h // block[0]) * -(-out_w // block[1]) * panel_groups
    ranges = None
    if ranged is not None and isinstance(ending, Dequantisation):
        ranges = builder.in_form(ranged, RANGES, lambda: builder.rows((2 * tasks,), fixed=True))
    of_outputs = _of_outputs(layer, packed, ending)

    def make() -> Step:
        numbers = {
            "images": n, "in_h": x.shape[2], "in_w": x.shape[3], "out_h": out_h, "out_w": out_w, "channels": x.shape[1],
            **window_numbers(window),
            **image_places("x", x), "x_channel": x.view.strides[1], **image_places("out", out), **zero.numbers,
            **ending.numbers, "ranges": -1 if ranges is None else ranges.offset,
            "x_signed": x.view.dtype == np.int8, "fours": fours, "depthwise": depthwise,
            "words": packed.words, "block_h": block[0], "block_w": block[1], "panel_groups": panel_groups,
            "together": _together(builder.machine, packed, out),
        }  # fmt: skip
        return IntegerConvolution(numbers, packed.places, packed.weights, *of_outputs, packed.panels, packed.lacking)

    kernel_h, kernel_w = window.kernel
    builder.emit(
        f"bytes {'depthwise ' if depthwise else ''}{kernel_h}x{kernel_w}, {'fours' if fours else 'pairs'}",
        make,
        reads=[x, *([] if zero.value is None else [zero.value]), *ending.reads],
        writes=[out] if ranges is None else [out, ranges],
        flops=2 * products,
        more_bytes=packed.weights.nbytes,
    )


def _of_outputs(layer: IntegerLayer, packed: IntegerWeights, ending: Ending) -> tuple[Array, Array, Array, Array]:
    """Of each output what its sums begin with, what its weights add up to, and scale and shift of its floats."""
    count = len(layer.weight)
    bias = np.zeros(count, np.int32) if layer.bias is None else np.ascontiguousarray(layer.bias.reshape(-1))
    scale = np.ones(count, np.float32) if ending.scale is None else ending.scale
    return bias, packed.sums, scale, np.full(count, -0.0, np.float32) if ending.shift is None else ending.shift


def _one_row(value: Value) -> Value:
    """All pixels of such images as one image of height 1."""
    pixels = value.view.transpose(0, 2, 3, 1).reshape(-1, value.shape[1])
    return Value(value.buffer, pixels.T[None, :, None, :])


def _together(machine: Machine, packed: IntegerWeights, out: Value) -> int:
    """How many pixels meet all panels before the next ones do: all, or as many as the first-level cache holds."""
    if packed.weights.nbytes > machine.l1 // 2 and not packed.depthwise:
        return out.view.size
    pixel = out.shape[1] * out.view.itemsize
    return max(2, machine.l1 // 4 // pixel // ROWS) * ROWS


def _cut(
    machine: Machine, x: Value, out: Value, packed: IntegerWeights, window: Window, products: int
) -> tuple[tuple[int, int], int]:
    """Rows and columns of a task's block, and the number of groups into which the panels fall.

    A quarter of the second-level cache holds what is spread for a block. Where there are too few blocks for many
    threads, they become smaller, if there is more image than weights, or share out the panels.
    """
    n, _, out_h, out_w = out.shape
    pixel = x.shape[1] * (1 if packed.fours else 2)

    def spread(h: int, w: int) -> int:
        counts = ((size - 1) * step + span for size, step, span in zip((h, w), window.stride, window.span, strict=True))
        height, width = counts
        return height * width * pixel

    wanted = max(1, min(_TASKS, products // _PRODUCTS_OF_A_TASK))
    by_image = packed.weights.nbytes < x.view.nbytes
    most = max(ROWS, out_h * out_w * n // wanted) if by_image else out_h * out_w
    block_h, block_w = out_h, out_w
    while block_h > 1 and (spread(block_h, block_w) > machine.l2 // 4 or block_h * block_w > most):
        block_h -= 1
    while block_w > ROWS and (spread(block_h, block_w) > machine.l2 // 4 or block_h * block_w > most):
        block_w = max(ROWS, (block_w // 2 + ROWS - 1) // ROWS * ROWS)
    block_h = -(-out_h // -(-out_h // block_h))
    blocks = n * -(-out_h // block_h) * -(-out_w // block_w)
    return (block_h, block_w), max(1, min(len(packed.panels), -(-wanted // blocks)))
