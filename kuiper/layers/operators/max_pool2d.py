"""nn.MaxPool2d: the largest number in each window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.kernels import max_pooling
from kuiper.layers.layer import Array, Layer
from kuiper.layers.planes import as_planes
from kuiper.layers.registry import register
from kuiper.layers.window import Window, read_pooling_window
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.reads import Reads


@register("nn.MaxPool2d", "F.max_pool2d")
class MaxPool2d(Layer):
    """The maximum of every window; with ``return_indices`` also its place ``y * w + x`` in the plane, int64.

    Source: torch.nn.functional.max_pool2d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_pooling_window(op, 2)
        self.return_indices = op.bool_param("return_indices", False)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return self.window.reads(sizes)

    def forward(self, x: Array) -> Array | tuple[Array, Array]:
        pool = max_pool2d_with_indices if self.return_indices else max_pool2d
        return pool(x, self.window, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        kernel_h, kernel_w = self.window.kernel
        return math.prod(outputs[0]) * kernel_h * kernel_w


def max_pool2d(x: Array, window: Window, where: str = "max_pool2d") -> Array:
    """The maxima (..., out_h, out_w) of all windows on ``x`` (..., h, w).

    The padding counts as -inf, so it never wins; a NaN in a window makes its maximum NaN.

    >>> import numpy as np
    >>> x = np.float32([[[1, 5, 2, 0], [3, 4, 8, 7]]])
    >>> max_pool2d(x, Window((2, 2), stride=(2, 2)))
    array([[[5., 8.]]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` is no image or smaller than the window.
    """
    planes = as_planes(x, where)
    count, h, w = planes.shape
    out_h, out_w = window.output_size((h, w), where)
    out = np.empty((count, out_h, out_w), np.float32)
    num_threads = threads_for(count * out_h * window.kernel[0] * w)
    lines = np.full((num_threads, window.line_length(w, out_w)), -np.inf, np.float32)
    max_pooling.max_pool(planes, lines, out, *window.plane, num_threads)
    return out.reshape(*x.shape[:-2], out_h, out_w)


def max_pool2d_with_indices(x: Array, window: Window, where: str = "max_pool2d") -> tuple[Array, Array]:
    """What ``max_pool2d`` gives, and for each maximum its flat index ``y * w + x`` in the plane, int64.

    >>> import numpy as np
    >>> values, indices = max_pool2d_with_indices(np.float32([[[1, 5, 2], [3, 4, 8]]]), Window((2, 2), stride=(1, 1)))
    >>> indices.tolist()
    [[[1, 5]]]
    """
    planes = as_planes(x, where)
    h, w = planes.shape[1:]
    out_h, out_w = window.output_size((h, w), where)
    rows, columns = window.bounds(0, h, out_h), window.bounds(1, w, out_w)
    values, indices = maxima(planes, rows, columns, window.plane[6:])
    shape = (*x.shape[:-2], out_h, out_w)
    return values.reshape(shape), indices.reshape(shape)


def maxima(planes: Array, rows: Array, columns: Array, dilation: tuple[int, int] = (1, 1)) -> tuple[Array, Array]:
    """Maxima and flat indices of boxes on ``planes`` (planes, h, w).

    Box (i, j) takes the rows from ``rows[0, i]`` up to, not including, ``rows[1, i]`` in steps, and columns likewise.
    """
    shape = (len(planes), rows.shape[1], columns.shape[1])
    values, indices = np.empty(shape, np.float32), np.empty(shape, np.int64)
    work = len(planes) * int((rows[1] - rows[0]).sum()) * int((columns[1] - columns[0]).sum())
    max_pooling.max_with_indices(planes, rows, columns, *dilation, values, indices, threads_for(work))
    return values, indices
