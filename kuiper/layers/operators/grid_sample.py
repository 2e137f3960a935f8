"""F.grid_sample: an image read at any points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import DataTypeError, ShapeError
from kuiper.layers.grid_taps import MODES, PADDINGS, Sampling
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

    Table = tuple[Array, Array]
    """Of one axis: the pixels around each point, and what they count."""

_ONNX_MODES = {"linear": "bilinear", "cubic": "bicubic"}
"""What graphs born from ONNX call the modes."""


@register("F.grid_sample")
class GridSample(Layer):
    """(n, c, h, w) read at the points ``grid`` (n, out_h, out_w, 2): (n, c, out_h, out_w); the same for volumes.

    A point is (x, y), from -1 at the left and the top to 1 at the right and the bottom: with ``align_corners`` the
    centres of the outermost pixels, else the borders of the image.

    Source: torch.nn.functional.grid_sample.
    """

    data_inputs = ("input", "self", "grid")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        mode, padding = op.str_param("mode", "bilinear"), op.str_param("padding_mode", "zeros")
        mode = _ONNX_MODES.get(mode, mode)
        if mode not in MODES:
            raise self.unsupported(f"mode {', '.join(MODES)}", mode)
        if padding not in PADDINGS:
            raise self.unsupported(f"padding_mode {', '.join(PADDINGS)}", padding)
        self.sampling = Sampling(mode, padding, op.bool_param("align_corners", False))

    def forward(self, x: Array, grid: Array) -> Array:
        if x.ndim == 5 and self.sampling.mode == "bicubic":
            raise self.unsupported("mode bilinear or nearest for volumes", "bicubic")
        return grid_sample(x, grid, self.sampling, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        taps = {"nearest": 1, "bilinear": 2, "bicubic": 4}[self.sampling.mode]
        return 2 * math.prod(outputs[0]) * int(taps ** len(inputs[0][2:]))


def grid_sample(x: Array, grid: Array, sampling: Sampling, where: str = "grid_sample") -> Array:
    """``x`` (n, c, *size) at the points ``grid`` (n, *out, axes), whose last axis counts x before y before z.

    >>> image, points = np.float32([[[[1, 2, 4]]]]), np.float32([[[[0.5, 0], [-1, 0], [9, 0]]]])
    >>> grid_sample(image, points, Sampling("bilinear", "zeros", align_corners=True))
    array([[[[3., 1., 0.]]]], dtype=float32)

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, or there are no pixels.
    DataTypeError
        If one of them is not float32.
    """
    axes = x.ndim - 2
    if axes not in (2, 3) or 0 in x.shape[2:]:
        raise ShapeError(where, "input (n, c, h, w) or (n, c, d, h, w) with pixels", x.shape)
    if grid.ndim != x.ndim or grid.shape[0] != x.shape[0] or grid.shape[-1] != axes:
        sizes = "out_h, out_w" if axes == 2 else "out_d, out_h, out_w"
        raise ShapeError(where, f"grid ({x.shape[0]}, {sizes}, {axes})", grid.shape)
    if x.dtype != np.float32 or grid.dtype != np.float32:
        raise DataTypeError(where, "float32 input and grid", f"{x.dtype} and {grid.dtype}")
    planes = np.ascontiguousarray(x).reshape(*x.shape[:2], math.prod(x.shape[2:]))
    points = grid.reshape(len(x), math.prod(grid.shape[1:-1]), axes)
    out = np.empty((*x.shape[:2], points.shape[1]), np.float32)
    if out.size:
        for image, places, target in zip(planes, points, out, strict=True):
            h, w = x.shape[-2:]
            columns, rows = sampling.taps(places[:, 0], w), sampling.taps(places[:, 1], h)
            slices = np.zeros((len(places), 1), np.intp), np.ones((len(places), 1), np.float32)
            if axes == 3:  # an image is a volume of one slice
                slices = sampling.taps(places[:, 2], x.shape[2])
            _sum_pixels(image, (h, w), (slices, rows, columns), target)
    return np.asarray(out.reshape(*x.shape[:2], *grid.shape[1:-1]))


def _sum_pixels(planes: Array, size: tuple[int, int], tables: tuple[Table, Table, Table], out: Array) -> None:
    """Fill ``out`` (c, points) with the weighted sums of the pixels around each point of ``planes`` (c, d * h * w).

    The tables are for slices, rows and columns: pixels of the axis and what they count, (points, entries) both. A pixel
    counts the product of its three. An entry -1 lies outside: it is left out, since 0 times infinity would be NaN.
    """
    out[:] = 0
    (slices, rows, columns), weights = zip(*tables, strict=True)
    for z, y, x in np.ndindex(slices.shape[1], rows.shape[1], columns.shape[1]):
        places = slices[:, z], rows[:, y], columns[:, x]
        is_inside = np.minimum.reduce(places) >= 0
        offsets = (places[0] * size[0] + places[1]) * size[1] + places[2]
        pixels = planes.take(np.where(is_inside, offsets, 0), 1)
        with np.errstate(all="ignore"):  # as in torch, 0 times infinity is NaN without a word
            pixels *= weights[0][:, z] * weights[1][:, y] * weights[2][:, x]
            np.add(out, pixels, out=out, where=is_inside)
