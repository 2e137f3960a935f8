"""Pooling of boxes on images in ONNX's spelling: RoiAlign and MaxRoiPool."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("RoiAlign")
class RoiAlign(Layer):
    """Each box of an image as ``output_height`` x ``output_width`` cells, read between the pixels at several points.

    Inputs are X (n, c, h, w), boxes (boxes, 4) as x1, y1, x2, y2, and the image of each box.

    Source: ONNX, RoiAlign; He et al., Mask R-CNN, 2017.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.size = op.int_param("output_height", 1), op.int_param("output_width", 1)
        self.points, self.scale = op.int_param("sampling_ratio", 0), op.float_param("spatial_scale", 1.0)
        self.mode, transform = op.str_param("mode", "avg"), op.str_param("coordinate_transformation_mode", "half_pixel")
        if self.mode not in ("avg", "max"):
            raise self.unsupported("mode avg or max", self.mode)
        if transform not in ("half_pixel", "output_half_pixel"):
            raise self.unsupported("coordinate_transformation_mode half_pixel or output_half_pixel", transform)
        if min(self.size) < 1 or self.points < 0:
            raise ParameterError(op.where, "output sizes of at least 1, sampling_ratio of at least 0", self.size)
        self.is_shifted = transform == "half_pixel"

    def forward(self, x: Array, boxes: Array, images: Array) -> Array:
        check_boxes(self, x, boxes, 4, images)
        out = np.empty((len(boxes), x.shape[1], *self.size), x.dtype)
        for box, image, target in zip(boxes.astype(np.float64), images.astype(np.int64), out, strict=True):
            target[...] = self._aligned(x[image], box * self.scale - 0.5 * self.is_shifted)
        return out

    def _aligned(self, image: Array, box: Array) -> Array:
        """The cells (c, height, width) of one box."""
        self.expect(bool(np.isfinite(box).all()), "finite boxes", box)
        pixels, weights = [], []
        for start, end, cells, size in zip(box[1::-1], box[:1:-1], self.size, image.shape[1:], strict=True):
            length = end - start if self.is_shifted else max(end - start, 1.0)
            points = self.points or max(math.ceil(length / cells), 0)
            check_size((cells, points, image.shape[0]), 8, self.op.where)
            at = start + (np.arange(cells)[:, None] + (np.arange(points) + 0.5) / max(points, 1)) * (length / cells)
            outside = (at < -1) | (at > size)
            at = np.clip(at, 0, size - 1)
            low = np.minimum(at.astype(np.int64), size - 1)
            pixels.append((low, np.minimum(low + 1, size - 1)))
            share = np.where(low == size - 1, 0, at - low)
            weights.append((np.where(outside, 0, 1 - share), np.where(outside, 0, share)))
        check_size((len(image), *pixels[0][0].shape, *pixels[1][0].shape), 8, self.op.where)
        corners = [
            image[:, row[:, :, None, None], column[None, None]] * (by_row[:, :, None, None] * by_column)
            for row, by_row in zip(pixels[0], weights[0], strict=True)
            for column, by_column in zip(pixels[1], weights[1], strict=True)
        ]
        count = corners[0].shape[2] * corners[0].shape[4]
        if count == 0:
            return np.zeros((len(image), *self.size), image.dtype)
        if self.mode == "max":
            return np.asarray(np.max(corners, axis=0).max((2, 4)), image.dtype)
        return np.asarray(sum(corners).sum((2, 4)) / count, image.dtype)


@register("MaxRoiPool")
class MaxRoiPool(Layer):
    """The largest number in each of ``pooled_shape`` cells of each box, whose edges are rounded to pixels.

    Inputs are X (n, c, h, w) and boxes (boxes, 5) as image, x1, y1, x2, y2.

    Source: ONNX, MaxRoiPool; Girshick, Fast R-CNN, 2015.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.size, self.scale = op.ints_param("pooled_shape"), op.float_param("spatial_scale", 1.0)
        if len(self.size) != 2 or min(self.size) < 1:
            raise ParameterError(op.where, "pooled_shape of two sizes of at least 1", self.size)

    def forward(self, x: Array, boxes: Array) -> Array:
        check_boxes(self, x, boxes, 5, boxes[:, 0] if boxes.ndim == 2 and boxes.shape[1] else boxes)
        out = np.zeros((len(boxes), x.shape[1], *self.size), x.dtype)
        for box, target in zip(boxes, out, strict=True):
            edges = np.floor(np.abs(box[1:]) * self.scale + 0.5) * np.sign(box[1:])
            rows, columns = (
                self._cells(int(edges[axis]), int(edges[axis + 2]), cells, size)
                for axis, cells, size in ((1, self.size[0], x.shape[2]), (0, self.size[1], x.shape[3]))
            )
            for i, (top, bottom) in enumerate(rows):
                for j, (left, right) in enumerate(columns):
                    if bottom > top and right > left:
                        target[:, i, j] = x[int(box[0]), :, top:bottom, left:right].max((1, 2))
        return out

    @staticmethod
    def _cells(start: int, end: int, cells: int, size: int) -> list[tuple[int, int]]:
        """Where each cell of an axis begins and ends."""
        length = max(end - start + 1, 1) / cells
        bounds = [(math.floor(i * length) + start, math.ceil((i + 1) * length) + start) for i in range(cells)]
        return [(min(max(first, 0), size), min(max(last, 0), size)) for first, last in bounds]


def check_boxes(layer: Layer, x: Array, boxes: Array, columns: int, images: Array) -> None:
    """Raise an error unless there are images, boxes with this many columns, and an image for each box."""
    layer.expect(x.ndim == 4 and 0 not in x.shape[2:], "input (n, c, h, w)", x.shape)
    layer.expect(boxes.ndim == 2 and boxes.shape[1] == columns, f"boxes (boxes, {columns})", boxes.shape)
    layer.expect(images.shape == (len(boxes),), f"an image for each of {len(boxes)} boxes", images.shape)
    if images.size and not (images.min() >= 0 and images.max() < len(x)):
        raise TensorIndexError(layer.op.where, f"images within {len(x)}", images.tolist())
    if not np.isfinite(boxes).all():
        raise ParameterError(layer.op.where, "finite boxes", "others")
