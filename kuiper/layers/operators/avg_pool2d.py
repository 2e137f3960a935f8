"""nn.AvgPool2d: the mean of each window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, UnsupportedOperatorError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.planes import as_planes
from kuiper.layers.registry import register
from kuiper.layers.window import Sizes, Window, read_pooling_window

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.reads import Reads


@register("nn.AvgPool2d", "F.avg_pool2d")
class AvgPool2d(Layer):
    """The sum of every window, divided by torch's count of its pixels or by ``divisor_override``.

    Source: torch.nn.functional.avg_pool2d.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_pooling_window(op, 2)
        self.count_include_pad = op.bool_param("count_include_pad", True)
        self.divisor_override = op.int_param("divisor_override", None)
        if self.divisor_override == 0:
            raise ParameterError(op.where, "a divisor_override other than 0", 0)

    def reads(self, sizes: list[tuple[int, int]]) -> list[Reads] | None:
        return self.window.reads(sizes)

    def forward(self, x: Array) -> Array:
        return avg_pool2d(x, self.window, self.count_include_pad, self.divisor_override, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        kernel_h, kernel_w = self.window.kernel
        return math.prod(outputs[0]) * kernel_h * kernel_w


def avg_pool2d(
    x: Array,
    window: Window,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    where: str = "avg_pool2d",
) -> Array:
    """The means (..., out_h, out_w) of all windows on ``x`` (..., h, w).

    The padding adds zeros. A window's sum is divided by ``divisor_override`` or by the number of its pixels: those of
    image and padding (not what ``ceil_mode`` lets stick out beyond), or without ``count_include_pad`` the image's only.

    >>> import numpy as np
    >>> x = np.float32([[[1, 5, 2, 0], [3, 3, 8, 6]]])
    >>> avg_pool2d(x, Window((2, 2), stride=(2, 2)))
    array([[[3., 4.]]], dtype=float32)

    Raises
    ------
    ShapeError
        If ``x`` is no image or smaller than the window.
    UnsupportedOperatorError
        If the window is dilated, which torch's average pooling does not know.
    """
    if window.dilation != (1, 1):
        raise UnsupportedOperatorError(where, "dilation 1", window.dilation)
    planes = as_planes(x, where)
    h, w = planes.shape[1:]
    out_h, out_w = window.output_size((h, w), where)
    divisor_h, divisor_w = divisors(window, (h, w), count_include_pad, divisor_override)
    # The sum over a box is the sum of its columns' sums: kernel_h + kernel_w additions, not kernel_h * kernel_w.
    columns = _sums(planes.swapaxes(1, 2), window, 0, out_h)
    sums = _sums(columns.swapaxes(1, 2), window, 1, out_w)
    return np.asarray(sums / np.outer(divisor_h, divisor_w)).reshape(*x.shape[:-2], out_h, out_w)


def _sums(x: Array, window: Window, axis: int, outputs: int) -> Array:
    """The sums (a, b, outputs) of all windows along the last axis of ``x`` (a, b, size), one axis of an image."""
    kernel, stride, before = window.kernel[axis], window.stride[axis], window.before[axis]
    reach = (outputs - 1) * stride + 1
    padded = np.zeros((*x.shape[:2], reach + kernel - 1), np.float32)
    seen = x[..., : padded.shape[-1] - before]
    padded[..., before : before + seen.shape[-1]] = seen
    total: Array = padded[..., :reach:stride].copy()
    with np.errstate(all="ignore"):  # as in torch, inf - inf is NaN without a word
        for tap in range(1, kernel):
            total += padded[..., tap : tap + reach : stride]
    return total


def divisors(window: Window, size: Sizes, count_include_pad: bool, divisor_override: int | None) -> list[Array]:
    """One array for each axis, float32: a window's sum is divided by the product of its numbers in them."""
    counts = window.output_size(size)
    if divisor_override is not None:
        return [np.full(count, 1 if axis else divisor_override, np.float32) for axis, count in enumerate(counts)]
    return [_pixels(window, axis, size[axis], count, count_include_pad) for axis, count in enumerate(counts)]


def _pixels(window: Window, axis: int, size: int, outputs: int, include_pad: bool) -> Array:
    """How many positions of one axis count in each window."""
    starts = window.starts(axis, outputs)
    border = window.before[axis] if include_pad else 0
    ends = np.minimum(starts + window.kernel[axis], size + border)
    count: Array = ends - np.maximum(starts, -border)
    return count.astype(np.float32)
