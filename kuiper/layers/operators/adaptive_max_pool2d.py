"""nn.AdaptiveMaxPool2d: the maxima of as many windows as asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.adaptive_avg_pool2d import OutputSize, adaptive_bounds, read_output_size
from kuiper.layers.operators.max_pool2d import maxima
from kuiper.layers.planes import as_planes
from kuiper.layers.reads import Reads, adaptive_reads
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("nn.AdaptiveMaxPool2d", "F.adaptive_max_pool2d")
class AdaptiveMaxPool2d(Layer):
    """An image of ``output_size`` (h, w), a number for both; None (in a file 0) keeps the input's size on that axis.

    An operator with two outputs also gives the place ``y * w + x`` of each maximum in its plane, int64.

    Source: torch.nn.functional.adaptive_max_pool2d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.output_size = read_output_size(op)
        self.return_indices = op.bool_param("return_indices", False)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return [adaptive_reads(i, o) for i, o in sizes]

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        values, indices = adaptive_max_pool2d(x, self.output_size, self.op.where)
        return (values, indices) if self.return_indices else values

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])  # windows overlap by a row at most


def adaptive_max_pool2d(x: Array, output_size: OutputSize, where: str = "adaptive_max_pool2d") -> tuple[Array, Array]:
    """Maxima (..., out_h, out_w) of windows that share out ``x`` (..., h, w), and their flat indices in the plane.

    The windows are those of ``adaptive_avg_pool2d``.

    >>> import numpy as np
    >>> values, indices = adaptive_max_pool2d(np.float32([[[3, 2, 1, 4, 5]]]), (0, 2))
    >>> values.tolist(), indices.tolist()
    ([[[3.0, 5.0]]], [[[0, 4]]])

    Raises
    ------
    ShapeError
        If ``x`` is no image.
    """
    planes = as_planes(x, where)
    h, w = planes.shape[1:]
    out_h, out_w = output_size[0] or h, output_size[1] or w
    values, indices = maxima(planes, adaptive_bounds(h, out_h), adaptive_bounds(w, out_w))
    shape = (*x.shape[:-2], out_h, out_w)
    return values.reshape(shape), indices.reshape(shape)
