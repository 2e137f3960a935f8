"""Convolutions with few outputs: several neighbouring pixels of a row are computed as one, so that vectors are full.

    kernel of 3 columns, 1 output              the same for a run of 4 pixels: 6 columns, 4 outputs

    pixels   a b c d e f                       pixels   a b c d e f
    kernel   k l m                             output 0 k l m . . .
                                               output 1 . k l m . .
                                               output 2 . . k l m .
                                               output 3 . . . k l m

A run is one pixel to the kernel: as many outputs lie side by side as it has pixels times outputs, and it reads the
columns under all of them. The zeros (the dots) add nothing, so each sum is that of the plain convolution, to the bit,
unless a NaN or an infinity lies under a zero. They cost time: the cost model decides whether a run pays.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kuiper.engine.cost import MAX_VECTORS, direct_cost, panel_widths
from kuiper.engine.values import Value

if TYPE_CHECKING:
    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window
    from kuiper.machine import Machine

_MIN_GAIN = 1.2
"""What a run must be faster by: anyone who reads its output finds pixels that do not begin at whole vectors."""


class PixelRun(NamedTuple):
    """How many pixels are computed as one, and the cycles of one image."""

    pixels: int
    cost: float


def best_run(machine: Machine, weight_shape: tuple[int, ...], window: Window, out_h: int, out_w: int) -> PixelRun:
    """The run for a convolution of one group with weights of this shape, (out_c, in_c, kernel_h, kernel_w).

    >>> from kuiper.layers.window import Window
    >>> from kuiper.machine import REPRODUCIBLE
    >>> [best_run(REPRODUCIBLE, (out_c, 8, 5, 5), Window((5, 5)), 60, 60).pixels for out_c in (1, 4, 16)]
    [8, 2, 1]
    """
    out_c, in_c, kernel_h, kernel_w = weight_shape
    one = _cost(machine, out_h * out_w, out_c, kernel_h * kernel_w * in_c)
    best = PixelRun(1, one)
    unit = machine.lanes // math.gcd(out_c, machine.lanes)  # this many pixels fill whole vectors
    if out_c >= machine.lanes or kernel_w == 1 or window.dilation[1] > 1:
        return best
    for pixels in range(unit, min(out_w, MAX_VECTORS * machine.lanes // out_c) + 1, unit):
        columns = kernel_w + (pixels - 1) * window.stride[1]
        runs = out_h * -(-out_w // pixels)
        cost = _cost(machine, runs, pixels * out_c, kernel_h * columns * in_c)
        if cost < best.cost and cost * _MIN_GAIN < one:
            best = PixelRun(pixels, cost)
    return best


def _cost(machine: Machine, pixels: int, outputs: int, steps: int) -> float:
    widths = panel_widths(machine, -(-outputs // machine.lanes), pixels, steps)
    return direct_cost(machine, pixels, widths, steps)


def widened(weight: Array, bias: Array | None, window: Window, run: int) -> tuple[Array, Array | None, Window]:
    """Weight, bias and window of the convolution whose pixels are runs of as many."""
    out_c, in_c, kernel_h, kernel_w = weight.shape
    (stride_h, stride_w), more = window.stride, (run - 1) * window.stride[1]
    wide = np.zeros((run, out_c, in_c, kernel_h, kernel_w + more), np.float32)
    for pixel in range(run):
        wide[pixel, ..., pixel * stride_w : pixel * stride_w + kernel_w] = weight
    kernel, stride = (kernel_h, kernel_w + more), (stride_h, run * stride_w)
    of_runs = replace(window, kernel=kernel, stride=stride)
    return wide.reshape(run * out_c, *wide.shape[2:]), bias if bias is None else np.tile(bias, run), of_runs


def as_runs(out: Value, run: int) -> Value:
    """An image without gaps, its pixels taken together; the last run of a row may reach into the next row."""
    n, c, h, w = out.shape
    image, channel, row, pixel = out.view.strides
    shape, strides = (n, run * c, h, -(-w // run)), (image, channel, row, run * pixel)
    return Value(out.buffer, as_strided(out.view, shape, strides, writeable=False))
