"""nn.AvgPool3d and nn.AdaptiveAvgPool3d: the mean of each window of a volume."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.adaptive_avg_pool2d import adaptive_avg_pool2d, adaptive_bounds
from kuiper.layers.operators.avg_pool2d import avg_pool2d, divisors
from kuiper.layers.registry import register
from kuiper.layers.volumes import as_volumes, read_output_volume
from kuiper.layers.window import Window, read_pooling_window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.AvgPool3d", "F.avg_pool3d")
class AvgPool3d(Layer):
    """The sum of every window, divided by torch's count of its voxels or by ``divisor_override``.

    Source: torch.nn.functional.avg_pool3d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_pooling_window(op, 3)
        self.count_include_pad = op.bool_param("count_include_pad", True)
        self.divisor_override = op.int_param("divisor_override", None)
        if self.divisor_override == 0:
            raise ParameterError(op.where, "a divisor_override other than 0", 0)

    def forward(self, x: Array) -> Array:
        return avg_pool3d(x, self.window, self.count_include_pad, self.divisor_override, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * math.prod(self.window.kernel)


@register("nn.AdaptiveAvgPool3d", "F.adaptive_avg_pool3d")
class AdaptiveAvgPool3d(Layer):
    """A volume of ``output_size`` (d, h, w), a number for all three; None (in a file 0) keeps the size of an axis.

    Source: torch.nn.functional.adaptive_avg_pool3d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.output_size = read_output_volume(op)

    def forward(self, x: Array) -> Array:
        volumes = as_volumes(x, self.op.where)
        depth, *size = self.output_size
        images = adaptive_avg_pool2d(volumes, (size[0], size[1]), self.op.where)
        bounds = adaptive_bounds(volumes.shape[1], depth or volumes.shape[1])
        means = sums_along_depth(images, bounds) / (bounds[1] - bounds[0])[:, None, None]
        return np.asarray(means.reshape(*x.shape[:-3], *means.shape[1:]), np.float32)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])


def avg_pool3d(
    x: Array,
    window: Window,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    where: str = "avg_pool3d",
) -> Array:
    """The means (..., out_d, out_h, out_w) of all windows on ``x`` (..., d, h, w), counted as by ``avg_pool2d``."""
    volumes = as_volumes(x, where)
    d = volumes.shape[1]
    (count, _, _) = window.output_size(volumes.shape[1:], where)
    override = None if divisor_override is None else 1
    images = avg_pool2d(volumes, window.along(1), count_include_pad, override, where)
    counts = divisors(window.along(0, 1), (d,), count_include_pad, divisor_override)[0]
    means = sums_along_depth(images, window.bounds(0, d, count)) / counts[:, None, None]
    return np.asarray(means.reshape(*x.shape[:-3], *means.shape[1:]), np.float32)


def sums_along_depth(images: Array, bounds: Array) -> Array:
    """Sums of the images (volumes, d, h, w) from ``bounds[0, i]`` to before ``bounds[1, i]``, in float64."""
    return np.stack([images[:, first:end].sum(axis=1, dtype=np.float64) for first, end in bounds.T], axis=1)
