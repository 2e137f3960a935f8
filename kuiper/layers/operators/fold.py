"""F.unfold and F.fold: windows of an image as columns, and columns added up to an image."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.convolution import Pair, per_axis
from kuiper.layers.kernels.col2im import col2im
from kuiper.layers.kernels.im2col import im2col
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register
from kuiper.layers.window import Window
from kuiper.threads import threads_for

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("F.unfold", "nn.Unfold")
class UnfoldImage(Layer):
    """(n, c, h, w) -> (n, c * kernel_h * kernel_w, windows): every window of the image as a column.

    Source: torch.nn.functional.unfold.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_window(op)

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (3, 4), "(n, c, h, w) or (c, h, w)")
        columns = unfold(x if x.ndim == 4 else x[None], self.window, self.op.where)
        return columns if x.ndim == 4 else np.asarray(columns[0])


@register("F.fold", "nn.Fold")
class FoldImage(Layer):
    """(n, c * kernel_h * kernel_w, windows) -> (n, c, h, w) with (h, w) = ``output_size``: unfold run backwards.

    Where windows overlap, their entries add up.

    Source: torch.nn.functional.fold.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.window = read_window(op)
        self.size = op.pair_param("output_size")

    def forward(self, x: Array) -> Array:
        self.expect_rank(x, (2, 3), "(n, c * kernel_h * kernel_w, windows), or without n")
        images = fold(x if x.ndim == 3 else x[None], self.size, self.window, self.op.where)
        return images if x.ndim == 3 else np.asarray(images[0])

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(inputs[0])


def read_window(op: RuntimeOperator) -> Window:
    """Kernel, stride, padding and dilation of an operator on images."""
    padding = per_axis(op, "padding", 2, 0, at_least=0)
    return Window(
        op.pair_param("kernel_size"),
        per_axis(op, "stride", 2, 1, at_least=1),
        padding,
        padding,
        per_axis(op, "dilation", 2, 1, at_least=1),
    )


def unfold(x: Array, window: Window, where: str = "unfold") -> Array:
    """The windows of ``x`` (n, c, h, w) as columns (n, c * kernel_h * kernel_w, out_h * out_w); 0 beyond the border.

    >>> unfold(np.float32([[[[1, 2, 3], [4, 5, 6]]]]), Window((1, 2)))
    array([[[1., 2., 4., 5.],
            [2., 3., 5., 6.]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the kernel is larger than the padded image.
    DataTypeError
        If ``x`` is not float32.
    """
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    n, c, h, w = x.shape
    out_h, out_w = window.output_size((h, w), where)
    columns = np.empty((n, c * math.prod(window.kernel), out_h, out_w), np.float32)
    for image, target in zip(np.ascontiguousarray(x), columns, strict=True):
        im2col(image, target, *window.plane, 0, threads_for(target.size))
    return columns.reshape(n, -1, out_h * out_w)


def fold(x: Array, size: Pair, window: Window, where: str = "fold") -> Array:
    """The image (n, c, *size) to which the columns ``x`` (n, c * kernel_h * kernel_w, out_h * out_w) add up.

    >>> fold(np.float32([[[1, 2, 4, 5], [2, 3, 5, 6]]]), (2, 3), Window((1, 2)))
    array([[[[ 1.,  4.,  3.],
             [ 4., 10.,  6.]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the columns are not those of such an image.
    DataTypeError
        If ``x`` is not float32.
    """
    if x.dtype != np.float32:
        raise DataTypeError(where, "float32 input", x.dtype)
    out_h, out_w = window.output_size(size, where)
    entries = math.prod(window.kernel)
    if x.shape[1] % entries or x.shape[1] == 0 or x.shape[2] != out_h * out_w:
        raise ShapeError(where, f"input (n, c * {entries}, {out_h * out_w})", x.shape)
    images = np.zeros((len(x), x.shape[1] // entries, *size), np.float32)
    for columns, image in zip(np.ascontiguousarray(x), images, strict=True):
        col2im(columns.reshape(-1, out_h, out_w), image, *window.plane, threads_for(columns.size))
    return images
