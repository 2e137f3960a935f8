"""F.lp_pool1d and F.lp_pool2d: the length of each window, as a vector."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.avg_pool2d import avg_pool2d
from kuiper.layers.planes import as_rows
from kuiper.layers.registry import register
from kuiper.layers.window import Window, read_pooling_window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.reads import Reads


class LPPool(Layer):
    """The base of both: (sum of x^p over a window)^(1/p), NaN where the sum is negative and 1/p no whole number.

    As in torch the sum is the window's mean times the size of a whole window, also where it sticks out.
    """

    axes: ClassVar[int]

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.p = op.float_param("norm_type")
        self.window = read_pooling_window(op, self.axes)
        if self.window.before != (0, 0):
            raise self.unsupported("padding 0", self.window.before[-self.axes :])

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return self.window.reads(sizes)

    def forward(self, x: Array) -> Array:
        images = x if self.axes == 2 else as_rows(x, self.op.where)
        pooled = lp_pool2d(images, self.p, self.window, self.op.where)
        return pooled if self.axes == 2 else pooled[..., 0, :]

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return 2 * math.prod(outputs[0]) * math.prod(self.window.kernel)


@register("nn.LPPool1d", "F.lp_pool1d")
class LPPool1d(LPPool):
    """(sum of x^p)^(1/p) over each window of a sequence; p is ``norm_type``.

    Source: torch.nn.functional.lp_pool1d.
    """

    axes = 1


@register("nn.LPPool2d", "F.lp_pool2d")
class LPPool2d(LPPool):
    """(sum of x^p)^(1/p) over each window of an image; p is ``norm_type``.

    Source: torch.nn.functional.lp_pool2d.
    """

    axes = 2


def lp_pool2d(x: Array, p: float, window: Window, where: str = "lp_pool2d") -> Array:
    """(sum of x^p)^(1/p) over all windows on ``x`` (..., h, w).

    >>> lp_pool2d(np.float32([[[3, 4, 6, 8]]]), 2, Window((1, 2), (1, 2)))
    array([[[ 5., 10.]]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` is no image or smaller than the window.
    """
    with np.errstate(all="ignore"):
        means = avg_pool2d(np.power(x, np.float32(p)), window, where=where)
        return np.asarray(np.power(means * np.float32(math.prod(window.kernel)), np.float32(1 / p)))
