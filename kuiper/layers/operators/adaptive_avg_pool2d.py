"""nn.AdaptiveAvgPool2d: the means of as many windows as asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.planes import as_planes
from kuiper.layers.reads import Reads, adaptive_reads
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

OutputSize = tuple[int, int]


@register("nn.AdaptiveAvgPool2d", "F.adaptive_avg_pool2d")
class AdaptiveAvgPool2d(Layer):
    """An image of ``output_size`` (h, w), a number for both; None (in a file 0) keeps the input's size on that axis.

    Source: torch.nn.functional.adaptive_avg_pool2d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.output_size = read_output_size(op)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return [adaptive_reads(i, o) for i, o in sizes]

    def forward(self, x: Array) -> Array:
        return adaptive_avg_pool2d(x, self.output_size, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])  # windows overlap by a row at most


def read_output_size(op: RuntimeOperator) -> OutputSize:
    """The parameter ``output_size`` of a 2-D adaptive pool; 0 stands for "as the input"."""
    value = op.params["output_size"].value if op.has_param("output_size") else None
    given = value if isinstance(value, (list, tuple)) else (value,)
    if len(given) not in (1, 2) or not all(size is None or (type(size) is int and size >= 0) for size in given):
        raise ParameterError(op.where, "output_size=one or two numbers, None or 0 to keep the size", repr(value))
    return given[0] or 0, given[-1] or 0


def adaptive_avg_pool2d(x: Array, output_size: OutputSize, where: str = "adaptive_avg_pool2d") -> Array:
    """The means (..., out_h, out_w) of windows that share out ``x`` (..., h, w), each summed in double precision.

    >>> import numpy as np
    >>> adaptive_avg_pool2d(np.float32([[[1, 2, 3, 4, 5]]]), (0, 2))
    array([[[2., 4.]]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` is no image.
    """
    planes = as_planes(x, where)
    count, h, w = planes.shape
    out_h, out_w = output_size[0] or h, output_size[1] or w
    lines, out = np.empty((count, out_h, w)), np.empty((count, out_h, out_w), np.float32)
    for oy, (top, bottom) in enumerate(adaptive_bounds(h, out_h).T):
        lines[:, oy] = planes[:, top:bottom].mean(1, np.float64)
    for ox, (left, right) in enumerate(adaptive_bounds(w, out_w).T):
        out[:, :, ox] = lines[:, :, left:right].mean(2)
    return out.reshape(*x.shape[:-2], out_h, out_w)


def adaptive_bounds(size: int, outputs: int) -> Array:
    """Rows ``first`` and ``end`` (2, outputs): floor(i * size / outputs) and ceil((i + 1) * size / outputs).

    >>> adaptive_bounds(7, 3).tolist()
    [[0, 2, 4], [3, 5, 7]]
    """
    i = np.arange(outputs, dtype=np.intp)
    return np.stack([i * size // outputs, -(-(i + 1) * size // outputs)])
