"""Convolutions: which algorithm, how the work falls into tasks, and the numbers that the kernels want."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kuiper.engine.cost import direct_cost, many_weights, panel_rows, second_level_floats
from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.convolution import LANES, Convolution
from kuiper.engine.lowering.activation import NO_ACTIVATION, activation_numbers
from kuiper.engine.lowering.depthwise import lower_depthwise, suits_depthwise
from kuiper.engine.lowering.image_numbers import image_numbers, residual_numbers, window_numbers
from kuiper.engine.lowering.pixel_runs import as_runs, best_run, widened
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.winograd import Option, emit_winograd, options_for
from kuiper.engine.packing import PackedWeights, cut_panels, pack
from kuiper.engine.transfers import with_border
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.fused.conv2d import FusedConv2d
from kuiper.layers.operators.conv2d import Conv2d
from kuiper.layers.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine

_TASKS = 16
_CYCLES_OF_A_TASK = 8_000


POINTWISE = Window((1, 1))


@lowers(Conv2d, FusedConv2d)
def lower_convolution(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """nn.Conv2d with its residual and activation."""
    shape, window = inputs[0].shape, layer.window
    decline_if(layer.border or len(shape) != 4 or shape[1] != layer.in_channels or not _fits(window, shape))
    out_shape = (shape[0], layer.weight.shape[0], *window.output_size(shape[2:]))
    residual = builder.image_of(inputs[1]) if len(inputs) > 1 else None
    decline_if(residual is not None and residual.shape != out_shape)
    if suits_depthwise(builder.choices, layer.parameters.groups, shape[1], out_shape[1]):
        return lower_depthwise(layer, inputs[0], residual, builder)
    ways = _ways(builder, inputs[0], layer, out_shape)
    rejected = [(way.algorithm, way.cost) for way in ways[1:]]
    if not ways or not ways[0].size:
        cost = ways[0].cost if ways else 0.0
        return [_lower_direct(builder, inputs[0], layer, out_shape, residual, cost, rejected)]
    x = builder.image_of(inputs[0])
    out, numbers = builder.image(out_shape), activation_numbers(layer)
    emit_winograd(builder, x, out, layer.weight, layer.bias, window.before, ways[0], numbers, residual, rejected)
    return [out]


def _ways(builder: Builder, value: AnyValue, layer: Any, out_shape: tuple[int, int, int, int]) -> list[Option]:
    """Winograd's algorithms and the direct one, the fastest first; none if there is no choice."""
    window: Window = layer.window
    if layer.parameters.groups > 1 or window.kernel != (3, 3) or window.dilation != (1, 1):
        return []
    if window.stride not in ((1, 1), (2, 2)) or (isinstance(value, PythonValue) and _may_run_on(builder, value, layer)):
        return []
    return options_for(builder.choices, value.shape[1], out_shape, window.stride[0])


def _lower_direct(
    builder: Builder,
    value: AnyValue,
    layer: Any,
    out_shape: tuple[int, int, int, int],
    residual: Value | None,
    cost: float,
    rejected: Sequence[tuple[str, float]],
) -> Value:
    """The direct convolution: of pixels or runs of them, of which it sees a row of the kernel as one run of numbers."""
    groups, window = layer.parameters.groups, layer.window
    weight, bias, run = layer.weight, layer.bias, 1
    if groups == 1 and residual is None:
        run = best_run(builder.machine, weight.shape, window, *out_shape[2:]).pixels
    if run > 1:
        weight, bias, window = widened(weight, bias, window, run)
    x = _side_by_side(builder, value, layer, window, -(-out_shape[3] // run))
    if x is not None:
        weight = weight.transpose(0, 3, 1, 2).reshape(len(weight), -1, window.kernel[0], 1)
        window = Window((window.kernel[0], 1), window.stride, dilation=window.dilation)
    else:
        x = builder.image_of(value)
    out = builder.image(out_shape) if run == 1 else _dense_image(builder, out_shape)
    packed = packed_for(builder, weight, bias, groups, as_runs(out, run))
    emit_convolution(builder, x, out, packed, window, activation_numbers(layer), residual, cost, rejected, run)
    return out


def _dense_image(builder: Builder, shape: tuple[int, int, int, int]) -> Value:
    """Memory for an image whose pixels follow each other without gaps."""
    n, c, h, w = shape
    rows = builder.rows((n, h, w, c), fixed=True, padded=False)
    return Value(rows.buffer, rows.view.transpose(0, 3, 1, 2))


def packed_for(builder: Builder, weight: Array, bias: Array | None, groups: int, out: Value) -> PackedWeights:
    """The weights of the current operator, packed for an output of this size."""
    pixels = out.shape[0] * out.shape[2] * out.shape[3]
    widths = tuple(cut_panels(builder.machine, weight, groups, pixels))
    key = ("direct", weight.shape, widths)
    packed: PackedWeights = builder.pack(key, lambda: pack(builder.machine, weight, bias, groups, pixels))
    return packed


def _fits(window: Window, shape: tuple[int, ...]) -> bool:
    """Whether the kernel is not larger than the padded image."""
    padded = (shape[2 + i] + window.before[i] + window.after[i] for i in (0, 1))
    return all(size >= span for size, span in zip(padded, window.span, strict=True))


def emit_convolution(
    builder: Builder,
    x: Value,
    out: Value,
    packed: PackedWeights,
    window: Window,
    activation: dict[str, float] = NO_ACTIVATION,
    residual: Value | None = None,
    expected: float = 0.0,
    rejected: Sequence[tuple[str, float]] = (),
    run: int = 1,
) -> None:
    """Add the direct convolution from one image to another, or to some rows and columns of another.

    ``expected`` are the cycles for which it was chosen before the ``rejected`` ones, if there was a choice. Weights and
    window are those of runs of this many pixels (``pixel_runs.widened``); then the output is an image without gaps.
    """
    runs = as_runs(out, run)
    n, _, out_h, out_w = runs.shape
    kernel_h, kernel_w = window.kernel
    pixels, many = n * out_h * out_w, many_weights(builder.machine)
    cycles = direct_cost(builder.machine, pixels, packed.panels[:, 0].tolist(), packed.depth * kernel_h * kernel_w)
    zeros = builder.zeros(x.shape[1])  # a group reads as far into them as into a pixel
    block, panel_groups = cut_tasks(builder.machine, x.view.size, pixels, cycles, packed)

    def make() -> Step:
        numbers = {
            "images": n, "in_h": x.shape[2], "in_w": x.shape[3], "out_h": out_h, "out_w": out_w,
            **window_numbers(window), "depth": packed.depth,
            **image_numbers(x, runs),
            **residual_numbers(residual),
            "zeros": zeros.offset, "rest": out.shape[3] % run * out.shape[1],
            "block": block, "panels": len(packed.panels), "panel_groups": panel_groups,
            "far_weights": packed.weights.size > many,
            **activation,
        }  # fmt: skip
        return Convolution(numbers, packed.weights, packed.bias, packed.panels)

    builder.emit(
        f"direct {kernel_h}x{kernel_w}, panels of {packed.panels[0, 0] * LANES}{_of_runs(run)}",
        make,
        reads=[x] if residual is None else [x, residual],
        writes=[out],
        flops=2 * out.view.size * _products(packed, window, run, x.shape[1]),
        more_bytes=packed.weights.nbytes,
        relocatable=True,
        expected=expected,
        rejected=rejected,
        window=(window.stride[0], window.span[0]) if packed.weights.size < many else None,
    )


def _of_runs(run: int) -> str:
    """What the name of the algorithm says of runs of pixels."""
    return f", {run} pixels at a time" if run > 1 else ""


def _products(packed: PackedWeights, window: Window, run: int, channels: int) -> int:
    """Of one number of the output; those with the zeros by which the kernel of a run is wider do not count."""
    kernel_h, kernel_w = window.kernel
    zero_columns = window.stride[1] // run * (run - 1)
    return kernel_h * (packed.depth * kernel_w - zero_columns * channels)


def cut_tasks(machine: Machine, image: int, pixels: int, cycles: float, packed: PackedWeights) -> tuple[int, int]:
    """Pixels of a task, and the number of parts into which the panels fall; ``image`` is the floats of the input.

    If there is more image than weights, a task is some pixels and all panels: threads share the image, and what a task
    reads of it stays in the cache from panel to panel. Otherwise a task is one panel and as many pixels as possible:
    threads share the weights, of which each reads its part only.

    A task has whole tiles of the most rows: each tile reads its panel again, and smaller ones would read it more often.
    """
    wanted = max(1, min(_TASKS, int(cycles / _CYCLES_OF_A_TASK)))
    if packed.weights.size < image and pixels >= 4 * wanted:
        blocks, groups = min(max(wanted, -(-2 * image // second_level_floats(machine))), pixels // 4), 1
    else:
        groups = len(packed.panels)
        blocks = min(-(-wanted // groups), -(-pixels // 12))
    vectors = int(packed.panels[0, 0])
    rows = panel_rows(machine, vectors)
    block = -(-pixels // blocks)
    return (max(block // rows * rows, rows) if blocks > 1 else block), groups


def _may_run_on(builder: Builder, value: AnyValue, layer: Any) -> bool:
    """Whether a convolution may see a row of its kernel as one run of numbers: over few channels, side by side."""
    window = layer.window
    if layer.parameters.groups > 1 or window.dilation[1] > 1 or math.prod(window.kernel) == 1:
        return False
    if isinstance(value, PythonValue):
        is_float = not value.constant and value.example.dtype == "float32"
    else:
        is_float = value.is_float
    return is_float and value.shape[1] * 2 <= builder.choices.lanes


def _side_by_side(builder: Builder, value: AnyValue, layer: Any, window: Window, out_w: int) -> Value | None:
    """The image, pixels side by side, the padding stored with it: itself, or a copy; None if it need not be so.

    The ``window`` may be that of runs of pixels, the last of which reaches beyond the padding.
    """
    if not _may_run_on(builder, value, layer):
        return None
    (top, left), (bottom, right) = window.before, window.after
    beyond = (out_w - 1) * window.stride[1] + window.kernel[1] - (left + value.shape[3] + right)
    border = (top, bottom, left, right + max(0, beyond))
    if isinstance(value, PythonValue):
        return builder.in_form(value, border, lambda: with_border(builder, value, border))
    if border == (0, 0, 0, 0) and _lies_side_by_side(value):
        value.buffer.fixed = True  # moved into a concatenation, its pixels would lie apart
        return value
    return builder.in_form(value, border, lambda: with_border(builder, value, border))


def _lies_side_by_side(value: Value) -> bool:
    (_, c, _, w), (_, channel, _, pixel) = value.shape, value.strides
    return (channel == 1 or c == 1) and (pixel == c or w == 1)
