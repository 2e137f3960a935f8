"""F.affine_grid: where each pixel of an image comes from under a linear map."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import ParameterError, ShapeError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.registry import create, register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("F.affine_grid")
class AffineGrid(Layer):
    """``theta`` (n, 2, 3) -> the grid (n, h, w, 2) that F.grid_sample reads, for images of ``size`` (n, c, h, w).

    Pixel (y, x) gets theta times (x, y, 1), where x and y run from -1 to 1 across the image: with ``align_corners``
    from the centre of the first pixel to that of the last, else from border to border. With (n, 3, 4) and
    (n, c, d, h, w) the same for volumes.

    Source: torch.nn.functional.affine_grid.
    """

    data_inputs = ("theta", "input")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.size = op.ints_param("size")
        self.align_corners = op.bool_param("align_corners", False)
        if len(self.size) not in (4, 5) or min(self.size) < 1:
            raise ParameterError(op.where, "size (n, c, h, w) or (n, c, d, h, w)", self.size)

    def forward(self, theta: Array) -> Array:
        return affine_grid(theta, self.size[2:], self.align_corners, self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0]) * 2 * len(self.size[2:])


@register("AffineGrid")
def affine_grid_of_onnx(op: RuntimeOperator) -> Layer:
    """The same in ONNX's spelling, where the size is an operand."""
    return create(replace(op, type="F.affine_grid", input_names=["theta", "size"]))


def affine_grid(theta: Array, size: tuple[int, ...], align_corners: bool, where: str = "affine_grid") -> Array:
    """The grid (n, *size, axes) for ``theta`` (n, axes, axes + 1); its last axis counts x before y before z.

    >>> affine_grid(np.float32([[[1, 0, 0.5], [0, 1, 0]]]), (1, 2), align_corners=True).tolist()
    [[[[-0.5, 0.0], [1.5, 0.0]]]]

    Raises
    ------
    ShapeError
        If ``theta`` has another shape.
    """
    axes = len(size)
    if theta.ndim != 3 or theta.shape[1:] != (axes, axes + 1):
        raise ShapeError(where, f"theta (n, {axes}, {axes + 1})", theta.shape)
    dtype = np.dtype(np.float64 if theta.dtype == np.float64 else np.float32)
    points = np.ones((*size, axes + 1), dtype)
    for k, coordinates in enumerate(np.meshgrid(*(_across(n, align_corners) for n in size), indexing="ij")):
        points[..., axes - 1 - k] = coordinates
    grid = np.einsum("nij,pj->npi", theta.astype(dtype, copy=False), points.reshape(-1, axes + 1))
    return np.asarray(grid.reshape(len(theta), *size, axes))


def _across(n: int, align_corners: bool) -> Array:
    """The coordinates of n pixels on an axis that runs from -1 to 1; one pixel alone lies at 0."""
    if n == 1:
        return np.zeros(1)
    line = np.linspace(-1, 1, n)
    return line if align_corners else line * (n - 1) / n
