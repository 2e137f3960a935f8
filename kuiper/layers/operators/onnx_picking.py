"""Boxes, caches, columns and unique entries in ONNX's spelling: NonMaxSuppression, TensorScatter, Col2Im, Unique."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.axes import axis
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_shapes import integers
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("NonMaxSuppression")
class NonMaxSuppression(Layer):
    """The boxes that stay when each takes away those with less score that overlap it: rows (image, class, box), int64.

    Inputs: boxes (n, boxes, 4), scores (n, classes, boxes), and at most how many of each class, how much overlap and
    which score to leave out. ``center_point_box``: a box is (x, y, w, h) around its centre, not two corners (y, x).

    Source: ONNX, NonMaxSuppression.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.around_centre = op.bool_param("center_point_box", False)

    def forward(self, boxes: Array, scores: Array, *limits: Any) -> Array:
        fits = boxes.ndim == scores.ndim == 3 and boxes.shape[2] == 4
        fits = fits and (len(boxes), boxes.shape[1]) == (len(scores), scores.shape[2])
        self.expect(fits, "boxes (n, boxes, 4) and scores (n, classes, boxes)", (boxes.shape, scores.shape))
        most, overlap, least = [np.asarray(limit).reshape(-1) for limit in limits] + [np.zeros(0)] * (3 - len(limits))
        count = max(int(most[0]), 0) if most.size else 0
        threshold = overlap[0] if overlap.size else np.float32(0)
        found = [np.zeros((0, 3), np.int64)]
        for image, item in itertools.product(range(scores.shape[0]), range(scores.shape[1])):
            given = scores[image, item]
            candidates = np.flatnonzero(given > least[0]) if least.size else np.arange(len(given))
            order = candidates[np.argsort(-given[candidates], kind="stable")]
            kept = suppressed(corners(boxes[image], self.around_centre), order, count, threshold)
            found.append(np.array([(image, item, box) for box in kept], np.int64).reshape(-1, 3))
        return np.concatenate(found)


def corners(boxes: Array, around_centre: bool) -> Array:
    """Boxes (boxes, 4) as their lower corner and their upper one."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if around_centre:
        return np.concatenate([first - second / 2, first + second / 2], axis=1)
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=1)


def suppressed(boxes: Array, order: Array, count: int, threshold: float) -> list[int]:
    """Up to ``count`` of the boxes in this order, each of which takes away those behind it that overlap it too much.

    >>> suppressed(np.float32([[0, 0, 2, 2], [0, 0, 2, 1.8], [5, 5, 6, 6]]), np.array([0, 1, 2]), 9, 0.5)
    [0, 2]
    """
    sizes = boxes[:, 2:] - boxes[:, :2]
    areas = sizes[:, 0] * sizes[:, 1]
    kept: list[int] = []
    while len(order) and len(kept) < count:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        shared = np.minimum(boxes[order, 2:], boxes[best, 2:]) - np.maximum(boxes[order, :2], boxes[best, :2])
        common = np.where(np.all(shared > 0, axis=1), shared[:, 0] * shared[:, 1], 0)
        union = areas[order] + areas[best] - common
        counts = (common > 0) & (areas[order] > 0) & (areas[best] > 0) & (union > 0)
        with np.errstate(all="ignore"):
            order = order[~(counts & (common / union > threshold))]
    return kept


@register("TensorScatter")
class TensorScatter(Layer):
    """A cache with an update written into each image's part along ``axis``, from the place that the third input says.

    ``mode`` circular goes on at the start of the axis where it ends.

    Source: ONNX, TensorScatter.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis, self.mode = op.int_param("axis", -2), op.str_param("mode", "linear")
        if self.mode not in ("linear", "circular"):
            raise self.unsupported("mode linear or circular", self.mode)

    def forward(self, cache: Array, update: Array, starts: Array | None = None) -> Array:
        dim = axis(self.axis, cache.ndim, self.op.where)
        fits = dim > 0 and update.ndim == cache.ndim and update.shape[dim] <= cache.shape[dim]
        fits = fits and all(update.shape[a] == n for a, n in enumerate(cache.shape) if a != dim)
        self.expect(fits, f"an update of {cache.shape}, shorter on axis {self.axis}, which is not 0", update.shape)
        first = np.zeros(len(cache), np.int64) if starts is None else np.asarray(starts)
        self.expect(first.shape == (len(cache),), f"{len(cache)} places", first.shape)
        size = cache.shape[dim]
        places = first[:, None] + np.arange(update.shape[dim])
        places = places % size if self.mode == "circular" and size else places
        inside = not places.size or (places.min() >= 0 and places.max() < size)
        self.expect(bool(inside), f"places within {size} entries", first.tolist())
        result: Array = cache.copy()
        rows = np.moveaxis(result, dim, 1)
        rows[np.arange(len(cache))[:, None], places] = np.moveaxis(update, dim, 1)
        return result


@register("Unique")
class Unique(Layer):
    """The entries, or the slices along ``axis``, each once, where each is first, which each is, and how often it comes.

    Source: ONNX, Unique.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.axis, self.sorted = op.int_param("axis", None), op.bool_param("sorted", True)

    def forward(self, x: Array) -> tuple[Array, Array, Array, Array]:
        dim = None if self.axis is None else axis(self.axis, x.ndim, self.op.where)
        rows = x.reshape(-1) if dim is None else x
        along = dim or 0
        found, first, which, counts = np.unique(
            rows, return_index=True, return_inverse=True, return_counts=True, axis=along
        )
        which = which.reshape(-1)
        if not self.sorted:
            order = np.argsort(first, kind="stable")
            found, first, counts = np.take(found, order, along), first[order], counts[order]
            which = np.argsort(order)[which]
        first, which, counts = (np.asarray(one, np.int64) for one in (first, which, counts))
        return found, first, which, counts


@register("Col2Im")
class Col2Im(Layer):
    """Windows as columns (n, c * entries of a window, windows) added up to images of any number of axes.

    Inputs: the columns, the sizes of the image, the sizes of a window.

    Source: ONNX, Col2Im.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.settings = [op.ints_param(key, None) for key in ("strides", "dilations", "pads")]

    def forward(self, x: Array, image: Any, window: Any) -> Array:
        sizes, kernel = integers(image), integers(window)
        count = len(sizes)
        defaults = ((1,) * count, (1,) * count, (0,) * 2 * count)
        strides, dilations, pads = (
            one if one is not None else default for one, default in zip(self.settings, defaults, strict=True)
        )
        lengths = [len(kernel), len(strides), len(dilations), len(pads) / 2]
        if any(length != count for length in lengths) or min(*kernel, *strides, *dilations, *sizes) < 1:
            raise ParameterError(
                self.op.where, f"positive settings of {count} axes", (kernel, strides, dilations, pads)
            )
        padded = [n + pads[i] + pads[i + count] for i, n in enumerate(sizes)]
        windows = [
            (p - d * (k - 1) - 1) // s + 1 for p, k, s, d in zip(padded, kernel, strides, dilations, strict=True)
        ]
        entries = math.prod(kernel)
        fits = (
            x.ndim == 3
            and min(windows) > 0 < x.shape[1]
            and x.shape[1] % entries == 0
            and x.shape[2] == math.prod(windows)
        )
        self.expect(fits, f"columns (n, c * {entries}, {math.prod(windows)})", x.shape)
        columns = x.reshape(len(x), -1, *kernel, *windows)
        check_size((*columns.shape[:2], *padded), x.itemsize, self.op.where)
        out = np.zeros((*columns.shape[:2], *padded), x.dtype)
        for place in itertools.product(*map(range, kernel)):
            cuts = (
                slice(k * d, k * d + (m - 1) * s + 1, s)
                for k, d, m, s in zip(place, dilations, windows, strides, strict=True)
            )
            target: tuple[Any, ...] = (..., *cuts)
            source: tuple[Any, ...] = (slice(None), slice(None), *place)
            out[target] += columns[source]
        inside: tuple[Any, ...] = (..., *(slice(pads[i], pads[i] + n) for i, n in enumerate(sizes)))
        return np.asarray(out[inside])
