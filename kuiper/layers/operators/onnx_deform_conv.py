"""ONNX's DeformConv: a convolution of images whose taps are moved by the graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.onnx_window import read_onnx_window
from kuiper.layers.operators.onnx_convolution import with_bias
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.window import Window


@register("DeformConv")
class DeformConv(Layer):
    """Inputs X (n, c, h, w), W (m, c / group, kernel_h, kernel_w), offset, B (m) and mask, by their names.

    The offset (n, groups * kernel_h * kernel_w * 2, out_h, out_w) moves each tap down and to the right; there the image
    is read between its pixels, and is 0 outside. The mask (n, groups * kernel_h * kernel_w, out_h, out_w) scales it.

    Source: ONNX, DeformConv; Zhu et al., Deformable ConvNets v2, 2018.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.group, self.offset_group = op.int_param("group", 1), op.int_param("offset_group", 1)

    def forward(self, *inputs: Array) -> Array:
        given = dict(zip(self.op.input_names, inputs, strict=True))
        x, weight, offset, mask = given["X"], given["W"], given["offset"], given.get("mask")
        self.expect(x.ndim == weight.ndim == offset.ndim == 4, "an image, a kernel and offsets with 4 axes", x.shape)
        window = read_onnx_window(self.op, weight.shape[2:]).placed(x.shape[2:])
        outputs = window.output_size(x.shape[2:], self.op.where)
        taps = math.prod(window.kernel)
        self._check(x, weight, offset, mask, taps, outputs)
        moves = offset.reshape(len(x), self.offset_group, taps, 2, *outputs)
        check_size((*x.shape[:2], taps, *outputs), x.itemsize, self.op.where)
        columns = np.empty((*x.shape[:2], taps, *outputs), x.dtype)
        for image, target, move in zip(x, columns, moves, strict=True):
            for part, out, by in zip(
                np.split(image, self.offset_group), np.split(target, self.offset_group), move, strict=True
            ):
                out[...] = sampled(part, window, outputs, by)
        if mask is not None:
            weights = mask.reshape(len(x), self.offset_group, 1, taps, *outputs)
            columns = (columns.reshape(len(x), self.offset_group, -1, taps, *outputs) * weights).reshape(columns.shape)
        columns = columns.reshape(len(x), self.group, -1, math.prod(outputs))
        kernels = weight.reshape(self.group, len(weight) // self.group, -1)
        return with_bias(np.matmul(kernels, columns).reshape(len(x), -1, *outputs), given.get("B"))

    def _check(
        self, x: Array, weight: Array, offset: Array, mask: Array | None, taps: int, outputs: tuple[int, ...]
    ) -> None:
        """Raise ShapeError unless channels, offsets and mask fit each other."""
        groups = self.offset_group
        fits = self.group > 0 < groups and x.shape[1] == weight.shape[1] * self.group and not x.shape[1] % groups
        self.expect(fits and not len(weight) % self.group, "channels that fit the groups", (x.shape, weight.shape))
        expected = (len(x), groups * taps * 2, *outputs)
        self.expect(offset.shape == expected, f"offset {expected}", offset.shape)
        expected = (len(x), groups * taps, *outputs)
        self.expect(mask is None or mask.shape == expected, f"mask {expected}", None if mask is None else mask.shape)


def sampled(image: Array, window: Window, outputs: tuple[int, ...], moves: Array) -> Array:
    """The image (c, h, w) under each tap in each place, moved by ``moves`` (taps, 2, out_h, out_w): (c, taps, ...)."""
    rows, columns = (
        (np.arange(count) * stride - before)[None, :] + (np.arange(size) * dilation)[:, None]
        for count, stride, before, size, dilation in zip(
            outputs, window.stride, window.before, window.kernel, window.dilation, strict=True
        )
    )
    shape = (*window.kernel, *outputs)
    y = np.broadcast_to(rows[:, None, :, None], shape).reshape(-1, *outputs) + moves[:, 0]
    x = np.broadcast_to(columns[None, :, None, :], shape).reshape(-1, *outputs) + moves[:, 1]
    return between_pixels(image, y, x)


def between_pixels(image: Array, y: Array, x: Array) -> Array:
    """The image (c, h, w) at these places, blended from the four pixels around each; 0 outside.

    >>> between_pixels(np.array([[[1.0, 3.0]]]), np.array([0.0]), np.array([0.5]))
    array([[2.]])
    """
    h, w = image.shape[1:]
    y, x = (np.clip(np.nan_to_num(at, nan=-2), -2, size + 1) for at, size in ((y, h), (x, w)))
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    result = np.zeros((len(image), *y.shape), image.dtype)
    for row, by_row in ((top, top + 1 - y), (top + 1, y - top)):
        for column, by_column in ((left, left + 1 - x), (left + 1, x - left)):
            inside = (row >= 0) & (row < h) & (column >= 0) & (column < w)
            pixels = image[:, np.clip(row, 0, h - 1), np.clip(column, 0, w - 1)]
            result += (pixels * (by_row * by_column * inside)).astype(image.dtype)
    return result
