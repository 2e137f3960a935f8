"""nn.MaxPool3d and nn.AdaptiveMaxPool3d: the largest number in each window of a volume."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.adaptive_avg_pool2d import adaptive_bounds
from kuiper.layers.operators.adaptive_max_pool2d import adaptive_max_pool2d
from kuiper.layers.operators.max_pool2d import max_pool2d, max_pool2d_with_indices
from kuiper.layers.registry import register
from kuiper.layers.volumes import as_volumes, read_output_volume
from kuiper.layers.window import Window, read_pooling_window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.MaxPool3d", "F.max_pool3d")
class MaxPool3d(Layer):
    """The maximum of every window; with ``return_indices`` also its place ``(z * h + y) * w + x``, int64.

    Source: torch.nn.functional.max_pool3d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_pooling_window(op, 3)
        self.return_indices = op.bool_param("return_indices", False)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        values, indices = max_pool3d(x, self.window, self.return_indices, self.op.where)
        return (values, indices) if indices is not None else values

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * math.prod(self.window.kernel)


@register("nn.AdaptiveMaxPool3d", "F.adaptive_max_pool3d")
class AdaptiveMaxPool3d(Layer):
    """A volume of ``output_size`` (d, h, w), a number for all three; None (in a file 0) keeps the size of an axis.

    With ``return_indices`` also the place ``(z * h + y) * w + x`` of each maximum, int64.

    Source: torch.nn.functional.adaptive_max_pool3d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.output_size = read_output_volume(op)
        self.return_indices = op.bool_param("return_indices", False)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        volumes = as_volumes(x, self.op.where)
        d, h, w = volumes.shape[1:]
        depth, *size = self.output_size
        images, places = adaptive_max_pool2d(volumes, (size[0], size[1]), self.op.where)
        values, indices = deepest(images, places + slices(d, h * w), adaptive_bounds(d, depth or d))
        shape = (*x.shape[:-3], *values.shape[1:])
        return (values.reshape(shape), indices.reshape(shape)) if self.return_indices else values.reshape(shape)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])


def max_pool3d(
    x: Array, window: Window, with_indices: bool = False, where: str = "max_pool3d"
) -> tuple[Array, Array | None]:
    """The maxima (..., out_d, out_h, out_w) of all windows on ``x`` (..., d, h, w), and their indices if asked for.

    The padding never wins; a NaN in a window makes its maximum NaN.
    """
    volumes = as_volumes(x, where)
    d, h, w = volumes.shape[1:]
    (count, _, _), step, image = window.output_size((d, h, w), where), window.dilation[0], window.along(1)
    bounds = window.bounds(0, d, count)
    if not with_indices:
        images = max_pool2d(volumes, image, where)
        parts = [images[:, first:end:step].max(axis=1) for first, end in bounds.T]
        return np.stack(parts, axis=1).reshape(*x.shape[:-3], len(parts), *images.shape[2:]), None
    images, places = max_pool2d_with_indices(volumes, image, where)
    values, indices = deepest(images, places + slices(d, h * w), bounds, step)
    shape = (*x.shape[:-3], *values.shape[1:])
    return values.reshape(shape), indices.reshape(shape)


def slices(d: int, size: int) -> Array:
    """(d, 1, 1): the flat index at which each image of a volume begins."""
    return (np.arange(d, dtype=np.int64) * size)[:, None, None]


def deepest(images: Array, places: Array, bounds: Array, step: int = 1) -> tuple[Array, Array]:
    """Maxima along the depth of ``images`` (volumes, d, h, w), and those of ``places`` that belong to them.

    Output i takes the images from ``bounds[0, i]`` up to, not including, ``bounds[1, i]`` in steps.
    """
    values, indices = [], []
    for first, end in bounds.T:
        some = images[:, first:end:step]
        best = some.argmax(axis=1)[:, None]
        values.append(np.take_along_axis(some, best, 1)[:, 0])
        indices.append(np.take_along_axis(places[:, first:end:step], best, 1)[:, 0])
    return np.stack(values, axis=1), np.stack(indices, axis=1)
