"""Convolutions: which algorithm, how the work falls into tasks, and the numbers that the kernels want."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kuiper.engine.cost import direct_cost, many_weights, panel_rows, second_level_floats
from kuiper.engine.kernels.convolution import LANES, Convolution
from kuiper.engine.lowering.activation import NO_ACTIVATION, activation_numbers
from kuiper.engine.lowering.depthwise import lower_depthwise, suits_depthwise
from kuiper.engine.lowering.image_numbers import image_numbers, residual_numbers
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.winograd import emit_winograd, options_for
from kuiper.engine.packing import PackedWeights, cut_panels, pack
from kuiper.engine.transfers import import_with_border
from kuiper.engine.values import AnyValue, HostValue, Value
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
def lower_convolution(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue] | None:
    """nn.Conv2d with its residual and activation."""
    shape, window = inputs[0].shape, layer.window
    if layer.border or len(shape) != 4 or shape[1] != layer.in_channels or not _fits(window, shape):
        return None
    out_shape = (shape[0], layer.weight.shape[0], *window.output_size(shape[2:]))
    residual = builder.image_of(inputs[1]) if len(inputs) > 1 else None
    if len(inputs) > 1 and (residual is None or residual.shape != out_shape):
        return None
    groups, weight = layer.parameters.groups, layer.weight
    if suits_depthwise(builder.choices, groups, shape[1], len(weight)):
        return lower_depthwise(layer, inputs[0], residual, builder)
    x = _with_border(builder, inputs[0], window, groups)
    if x is not None:
        weight = weight.transpose(0, 3, 1, 2).reshape(len(weight), -1, window.kernel[0], 1)
        window = Window((window.kernel[0], 1), window.stride, dilation=window.dilation)
    else:
        x = builder.image_of(inputs[0])
    if x is None:
        return None
    out = builder.image(out_shape)
    activation = activation_numbers(layer)
    suits = groups == 1 and _suits_winograd(window)
    chosen, *others = options_for(builder.choices, x.shape[1], out_shape, window.stride[0]) if suits else [None]
    rejected = [(way.algorithm, way.cost) for way in others if way is not None]
    if chosen is not None and chosen.size:
        emit_winograd(builder, x, out, weight, layer.bias, window.before, chosen, activation, residual, rejected)
    else:
        packed = packed_for(builder, weight, layer.bias, groups, out)
        cost = chosen.cost if chosen is not None else 0.0
        emit_convolution(builder, x, out, packed, window, activation, residual, cost, rejected)
    return [out]


def _suits_winograd(window: Window) -> bool:
    return window.kernel == (3, 3) and window.dilation == (1, 1) and window.stride in ((1, 1), (2, 2))


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
) -> None:
    """Add the direct convolution from one image to another, or to some rows and columns of another.

    ``expected`` are the cycles for which it was chosen before the ``rejected`` ones, if there was a choice.
    """
    n, _, out_h, out_w = out.shape
    kernel_h, kernel_w = window.kernel
    pixels, many = n * out_h * out_w, many_weights(builder.machine)
    cycles = direct_cost(builder.machine, pixels, packed.panels[:, 0].tolist(), packed.depth * kernel_h * kernel_w)
    zeros = builder.zeros(x.shape[1])  # a group reads as far into them as into a pixel
    block, panel_groups = cut_tasks(builder.machine, x.view.size, pixels, cycles, packed)

    def make() -> Step:
        numbers = {
            "images": n, "in_h": x.shape[2], "in_w": x.shape[3], "out_h": out_h, "out_w": out_w,
            "kernel_h": kernel_h, "kernel_w": kernel_w,
            "stride_h": window.stride[0], "stride_w": window.stride[1],
            "pad_top": window.before[0], "pad_left": window.before[1],
            "dilation_h": window.dilation[0], "dilation_w": window.dilation[1],
            "depth": packed.depth,
            **image_numbers(x, out),
            **residual_numbers(residual),
            "zeros": zeros.offset,
            "block": block, "panels": len(packed.panels), "panel_groups": panel_groups,
            "far_weights": packed.weights.size > many,
            **activation,
        }  # fmt: skip
        return Convolution(numbers, packed.weights, packed.bias, packed.panels)

    widest = int(packed.panels[0, 0])
    builder.emit(
        f"direct {kernel_h}x{kernel_w}, panels of {widest * LANES}",
        make,
        reads=[x] if residual is None else [x, residual],
        writes=[out],
        flops=2 * pixels * out.shape[1] * packed.depth * kernel_h * kernel_w,
        more_bytes=packed.weights.nbytes,
        relocatable=True,
        expected=expected,
        rejected=rejected,
        window=(window.stride[0], window.span[0]) if packed.weights.size < many else None,
    )


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


def _with_border(builder: Builder, value: AnyValue, window: Window, groups: int) -> Value | None:
    """The image as the first convolution wants it: few channels, from outside, the padding stored with it."""
    if not isinstance(value, HostValue) or groups > 1 or window.dilation[1] > 1 or value.constant:
        return None
    if (
        value.example.dtype != "float32"
        or value.example.shape[1] * 2 > builder.choices.lanes
        or math.prod(window.kernel) == 1
    ):
        return None
    border = (window.before[0], window.after[0], window.before[1], window.after[1])
    return builder.in_form(value, border, lambda: import_with_border(builder, value, border))
