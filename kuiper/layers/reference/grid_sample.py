"""An image, or a volume, read at any points, one by one. Reference of ``operators/grid_sample.py`` and its tables."""

from __future__ import annotations

import itertools
import math

import numpy as np

Taps = list[tuple[int, float]]
"""Pixels of an axis, and what they count."""


def naive_grid_sample(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, align_corners: bool) -> np.ndarray:
    """``x`` (n, c, *size) at the points ``grid`` (n, *out, axes), whose last axis counts x before y before z."""
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for place in np.ndindex(grid.shape[:-1]):
        target = (place[0], slice(None), *place[1:])
        taps = [
            axis_taps(float(coordinate), size, mode, padding, align_corners)
            for coordinate, size in zip(grid[place][::-1], x.shape[2:], strict=True)
        ]
        for pairs in itertools.product(*taps):
            source = (place[0], slice(None), *(index for index, _ in pairs))
            if all(0 <= index < size for (index, _), size in zip(pairs, x.shape[2:], strict=True)):
                out[target] += math.prod(weight for _, weight in pairs) * x[source]
    return out


def axis_taps(coordinate: float, size: int, mode: str, padding: str, align_corners: bool) -> Taps:
    """The pixels that count at a coordinate between -1 and 1; some may lie outside of the axis."""
    x = (coordinate + 1) / 2 * (size - 1) if align_corners else ((coordinate + 1) * size - 1) / 2
    if mode == "bicubic":
        first = math.floor(x)
        return [(int(inside(first + k, size, padding, align_corners)), cubic(x - first - k)) for k in (-1, 0, 1, 2)]
    x = inside(x, size, padding, align_corners)
    if mode == "nearest":
        return [(round(x), 1.0)]
    first = math.floor(x)
    return [(first, first + 1 - x), (first + 1, x - first)]


def inside(x: float, size: int, padding: str, align_corners: bool) -> float:
    """The place on the axis that stands for this one."""
    if padding == "zeros":
        return x
    low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
    while padding == "reflection" and high > low and not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return min(max(x, 0), size - 1)


def cubic(distance: float) -> float:
    """Keys' kernel with a = -0.75."""
    a, d = -0.75, abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
