"""The step of a convolution of bytes: how its weights are packed, and how the image is cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.integer_packing import IntegerWeights, fits_fours, pack_depthwise, pack_integers
from kuiper.engine.kernels.integer_convolution import ROWS, IntegerConvolution
from kuiper.engine.lowering.byte_sums import Dequantisation, Ending
from kuiper.engine.lowering.byte_values import RANGES, has_even_pixels, image_places
from kuiper.engine.lowering.image_numbers import window_numbers
from kuiper.engine.values import Value, whole_vectors

if TYPE_CHECKING:
    from kuiper.engine.builder import Builder
    from kuiper.engine.step import Step
    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window
    from kuiper.machine import Machine

_TASKS = 16
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


@dataclass(frozen=True, slots=True)
class _Convolution:
    """From one image of bytes to another, of the type of the ending; ``block`` and ``panel_groups`` are a task's."""

    x: Value
    out: Value
    layer: IntegerLayer
    zero: ZeroPoint
    ending: Ending
    packed: IntegerWeights
    block: tuple[int, int]
    panel_groups: int
    together: int

    @property
    def tasks(self) -> int:
        """How many there are."""
        n, _, out_h, out_w = self.out.shape
        return n * -(-out_h // self.block[0]) * -(-out_w // self.block[1]) * self.panel_groups

    @property
    def has_room(self) -> bool:
        """Whether the kernel may fill the last vector of each pixel: nobody else's numbers are there."""
        outputs, step = self.out.shape[1], self.out.strides[3]
        is_padded = self.out.is_float and not self.out.buffer.exact and step == whole_vectors(outputs)
        return is_padded and (self.packed.depthwise or self.layer.groups == 1)

    @property
    def flops(self) -> int:
        """Additions and multiplications."""
        return 2 * self.out.view.size * (self.layer.weight.size // len(self.layer.weight))

    @property
    def name(self) -> str:
        """The algorithm."""
        kernel_h, kernel_w = self.layer.window.kernel
        depthwise, words = "depthwise " if self.packed.depthwise else "", "fours" if self.packed.fours else "pairs"
        return f"bytes {depthwise}{kernel_h}x{kernel_w}, {words}"

    @property
    def reads(self) -> list[Value]:
        """All that a step reads."""
        return [self.x, *([] if self.zero.value is None else [self.zero.value]), *self.ending.reads]

    def make(self, ranges: int) -> Step:
        """The step; the range of what each task writes goes to ``ranges``, -1: nowhere."""
        (_, _, in_h, in_w), (n, _, out_h, out_w), packed = self.x.shape, self.out.shape, self.packed
        numbers = {
            "images": n, "in_h": in_h, "in_w": in_w, "out_h": out_h, "out_w": out_w, "channels": self.x.shape[1],
            **window_numbers(self.layer.window),
            **image_places("x", self.x), "x_channel": self.x.view.strides[1], **image_places("out", self.out),
            **self.zero.numbers, **self.ending.numbers, "ranges": ranges, "has_room": self.has_room,
            "x_signed": self.x.view.dtype == np.int8, "fours": packed.fours, "depthwise": packed.depthwise,
            "words": packed.words, "block_h": self.block[0], "block_w": self.block[1],
            "panel_groups": self.panel_groups, "together": self.together,
        }  # fmt: skip
        count, bias, ending = len(self.layer.weight), self.layer.bias, self.ending
        return IntegerConvolution(
            numbers,
            packed.places,
            packed.weights,
            np.zeros(count, np.int32) if bias is None else np.ascontiguousarray(bias.reshape(-1)),
            packed.sums,
            np.ones(count, np.float32) if ending.scale is None else ending.scale,
            np.full(count, -0.0, np.float32) if ending.shift is None else ending.shift,
            packed.panels,
            packed.lacking,
        )


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
    conv = _planned(builder, x, out, layer, zero, ending)
    ranges = None
    if ranged is not None and isinstance(ending, Dequantisation):
        ranges = builder.in_form(ranged, RANGES, lambda: builder.rows((2 * conv.tasks,), fixed=True))
    builder.emit(
        conv.name,
        lambda: conv.make(-1 if ranges is None else ranges.offset),
        reads=conv.reads,
        writes=[conv.out] if ranges is None else [conv.out, ranges],
        flops=conv.flops,
        more_bytes=conv.packed.weights.nbytes,
    )


def _planned(
    builder: Builder, x: Value, out: Value, layer: IntegerLayer, zero: ZeroPoint, ending: Ending
) -> _Convolution:
    """How the weights are packed, and how the image is cut."""
    window, weight, machine = layer.window, layer.weight, builder.machine
    if window.is_pointwise and x.view.strides[1] == 1 and has_even_pixels(x.view) and has_even_pixels(out.view):
        x, out = _one_row(x), _one_row(out)
    depthwise = 1 < layer.groups == len(weight) == x.shape[1]
    fours = machine.vnni and fits_fours(weight, 1 if depthwise else layer.groups)

    def make_weights() -> IntegerWeights:
        return (
            pack_depthwise(weight, window, fours) if depthwise else pack_integers(weight, layer.groups, window, fours)
        )

    packed: IntegerWeights = builder.pack(("integers", fours), make_weights)
    products = out.view.size * (weight.size // len(weight))
    return _Convolution(
        x, out, layer, zero, ending, packed,
        *_cut(machine, x, out, packed, window, products), _together(machine, packed, out),
    )  # fmt: skip


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
