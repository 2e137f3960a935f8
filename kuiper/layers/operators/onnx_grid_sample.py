"""ONNX's GridSample on any number of axes and in any float type: what torch's layer does not take."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.onnx_resize import cubic
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@register("GridSample")
class OnnxGridSample(Layer):
    """X (n, c, ...) read at the points ``grid`` (n, ..., axes), whose last axis counts from the last axis of X.

    Source: ONNX, GridSample.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.mode, self.padding = op.str_param("mode", "bilinear"), op.str_param("padding_mode", "zeros")
        self.align_corners = op.bool_param("align_corners", False)
        if self.mode not in _MODES or self.padding not in _PADDINGS:
            raise self.unsupported(f"mode {', '.join(_MODES)} and padding_mode {', '.join(_PADDINGS)}", self.mode)

    def forward(self, x: Array, grid: Array) -> Array:
        axes = x.ndim - 2
        self.expect(axes > 0 and 0 not in x.shape[2:], "input (n, c, ...) with pixels", x.shape)
        fits = grid.ndim == x.ndim and len(grid) == len(x) and grid.shape[-1] == axes
        self.expect(fits, f"grid ({len(x)}, ..., {axes})", grid.shape)
        check_size((*x.shape[:2], *grid.shape[1:-1]), 8, self.op.where)
        out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
        for image, points, target in zip(x, grid.astype(np.float64), out, strict=True):
            taps = [self._taps(points[..., axes - 1 - k], size) for k, size in enumerate(x.shape[2:])]
            for corner in product(*taps):
                weight = np.prod([weight for _, weight in corner], axis=0)
                where: tuple[Any, ...] = (slice(None), *(places for places, _ in corner))
                target += image[where] * weight
        return out.astype(x.dtype)

    def _taps(self, points: Array, size: int) -> list[tuple[Array, Array]]:
        """The pixels of one axis around each point, and their weights."""
        at = (points + 1) / 2 * (size - 1) if self.align_corners else ((points + 1) * size - 1) / 2
        at = np.clip(np.nan_to_num(at), -1e9, 1e9)
        if self.padding == "reflection" and self.mode != "bicubic":
            at = self._reflected(at, size)
        if self.mode == "nearest":
            first, taps, weights = np.rint(at).astype(np.int64), [0], [np.ones_like(at)]
        else:
            first = np.floor(at).astype(np.int64)
            taps = [0, 1] if self.mode == "bilinear" else [-1, 0, 1, 2]
            distances = [np.abs(at - first - tap) for tap in taps]
            weights = [1 - d if self.mode == "bilinear" else cubic(d, -0.75) for d in distances]
        return [self._inside(first + tap, weight, size) for tap, weight in zip(taps, weights, strict=True)]

    def _inside(self, places: Array, weight: Array, size: int) -> tuple[Array, Array]:
        """Pixels that exist, and their weights: 0 for those that stand for zeros outside."""
        if self.padding == "zeros":
            weight = np.where((places >= 0) & (places < size), weight, 0)
        elif self.padding == "reflection":
            places = np.rint(self._reflected(places.astype(np.float64), size)).astype(np.int64)
        return np.clip(places, 0, size - 1), weight

    def _reflected(self, at: Array, size: int) -> Array:
        """Places mirrored at the outermost pixels, or with borders at their outer edges, until they lie inside."""
        low, high = (0.0, size - 1.0) if self.align_corners else (-0.5, size - 0.5)
        if high <= low:
            return np.zeros_like(at)
        away = np.abs(at - low) % (2 * (high - low))
        return low + np.minimum(away, 2 * (high - low) - away)
