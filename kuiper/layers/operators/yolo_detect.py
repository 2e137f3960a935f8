"""models.yolo.Detect: the head of YOLOv5 and YOLOv7, from feature maps to boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers import gemm
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.sigmoid import sigmoid
from kuiper.layers.registry import register
from kuiper.layers.yolo_constants import anchors_of, check_grids, strides_of

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@dataclass(frozen=True)
class Level:
    """One scale of the head: a 1x1 convolution (c, a v), the anchors (a, 2) in pixels, and the pixels per cell.

    v numbers make a box: x, y, w, h, objectness, and one score for each class.
    """

    weight: gemm.PackedRight
    bias: Array
    anchors: Array
    stride: float

    @property
    def channels(self) -> int:
        return self.weight.shape[0]

    @property
    def values(self) -> int:
        return len(self.bias) // len(self.anchors)


@register("models.yolo.Detect")
class YoloDetect(Layer):
    """Boxes (n, cells x anchors of all levels, 5 + classes) from one feature map (n, c, h, w) for each level.

    With s = sigmoid(conv1x1(map)), in cell (column, row) of a level::

        x, y = (2 s - 0.5 + (column, row)) stride      centre, pixels
        w, h = (2 s)^2 anchor                          pixels
        rest = s                                       objectness, classes

    Since YOLOv5 6.2 the stored grids start at -0.5, before they started at 0 and the formula subtracted 0.5: the same
    sum. So the stored grids are not needed, and feature maps may have another size than at export. Exports from
    training code return the maps before the sigmoid as further outputs.

    Source: Jocher et al., YOLOv5, 2020; Wang et al., YOLOv7, 2022.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        check_grids(op)
        strides = strides_of(op, len(op.inputs))
        anchors = anchors_of(op, strides)
        self.levels = tuple(level_of(op, i, anchors[i], float(strides[i])) for i in range(len(strides)))
        if len({level.values for level in self.levels}) != 1:
            raise ParameterError(op.where, "levels of one box size", [level.values for level in self.levels])
        self.ranks = tuple(len(operand.shape or ()) for operand in op.outputs)
        maps = [rank for rank in self.ranks if rank in (4, 5)]
        if len(self.ranks) > 1 and (self.ranks.count(3) != 1 or not len(maps) == len(strides) == len(self.ranks) - 1):
            expected = f"one output with 3 axes, and {len(strides)} maps with 4 or 5"
            raise self.unsupported(expected, [operand.shape for operand in op.outputs])

    def forward(self, *maps: Array) -> Array | tuple[Array, ...]:
        n = maps[0].shape[0]
        for level, x in zip(self.levels, maps, strict=True):
            fits = x.ndim == 4 and x.shape[:2] == (n, level.channels)
            self.expect(fits, f"map ({n}, {level.channels}, h, w)", x.shape)
        convolved = [convolve(x, level) for level, x in zip(self.levels, maps, strict=True)]
        counts = [math.prod(z.shape[1:4]) for z in convolved]
        boxes = np.empty((n, sum(counts), self.levels[0].values), np.float32)
        end = 0
        for level, z, count in zip(self.levels, convolved, counts, strict=True):
            start, end = end, end + count
            decode(z, level, boxes[:, start:end])
        if len(self.ranks) == 1:
            return boxes
        left = iter(convolved)
        return tuple(boxes if rank == 3 else as_map(next(left), rank) for rank in self.ranks)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        cells = [n * h * w for n, _, h, w in inputs]
        per_cell = [2 * level.channels * len(level.bias) for level in self.levels]
        return sum(count * work for count, work in zip(cells, per_cell, strict=True))


def level_of(op: RuntimeOperator, index: int, anchors: Array, stride: float) -> Level:
    """The level of that index, its weight packed for the matrix product.

    Raises
    ------
    ParameterError
        If the weights are missing or do not fit the anchors.
    """
    weight, bias = op.attr(f"m.{index}.weight"), op.attr(f"m.{index}.bias")
    a = len(anchors)
    fits = weight.ndim == 4 and weight.shape[2:] == (1, 1) and bias.shape == weight.shape[:1] and len(bias) % a == 0
    if not fits or len(bias) // a < 5:
        expected = f"m.{index}: weight (v x {a} anchors, c, 1, 1) and bias to match, v >= 5"
        raise ParameterError(op.where, expected, f"{weight.shape} and {bias.shape}")
    return Level(gemm.pack_right(weight[:, :, 0, 0].T), bias, anchors, stride)


def convolve(x: Array, level: Level) -> Array:
    """The 1x1 convolution of a map (n, c, h, w) as (n, h, w, a, v): each pixel's channels times one matrix."""
    n, c, h, w = x.shape
    z = np.empty((n, h * w, len(level.bias)), np.float32)
    for image, rows in zip(x, z, strict=True):
        gemm.matmul(image.reshape(c, h * w).T, level.weight, rows)
    z += level.bias
    return z.reshape(n, h, w, len(level.anchors), level.values)


def decode(z: Array, level: Level, out: Array) -> None:
    """Fill ``out`` (n, a h w, v) with the boxes of one level, anchor by anchor and there row by row."""
    n, h, w, a, v = z.shape
    boxes = out.reshape(n, a, h, w, v)  # splits an axis, so it is a view
    boxes[...] = sigmoid(z).transpose(0, 3, 1, 2, 4)
    centre, size = boxes[..., 0:2], boxes[..., 2:4]
    centre *= 2
    centre += cell_corners(h, w)
    centre *= level.stride
    size *= 2
    size *= size
    size *= level.anchors[:, None, None, :]


def cell_corners(h: int, w: int) -> Array:
    """(column - 0.5, row - 0.5) of every cell, (h, w, 2).

    >>> cell_corners(1, 2)
    array([[[-0.5, -0.5],
            [ 0.5, -0.5]]], dtype=float32)
    """
    corners = np.empty((h, w, 2), np.float32)
    corners[..., 0] = np.arange(w) - 0.5
    corners[..., 1] = (np.arange(h) - 0.5)[:, None]
    return corners


def as_map(z: Array, rank: int) -> Array:
    """The convolved map (n, h, w, a, v) as the file returns it: (n, a v, h, w) or (n, a, h, w, v)."""
    n, h, w, a, v = z.shape
    if rank == 4:
        return np.transpose(z.reshape(n, h, w, a * v), (0, 3, 1, 2))
    return np.transpose(z, (0, 3, 1, 2, 4))
