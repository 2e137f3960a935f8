"""From the coordinates of a grid to the pixels that count at each point, and how much: tables for one axis.

A point lies between pixels. Nearest takes one of them, linear two, cubic four; of an image the same on each axis. Where
a pixel lies outside, ``padding`` says what counts instead:

    zeros        nothing                            . . [a b c d] . .
    border       the pixel at the border            a a [a b c d] d d
    reflection   the image, mirrored                b a [a b c d] d c     (with ``align_corners``  c b [a b c d] c b)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.layer import Array

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")

_A = np.float32(-0.75)
"""How steep cubic interpolation is at the neighbours, by torch's choice."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How points between pixels are read."""

    mode: str
    padding: str
    align_corners: bool

    def taps(self, coordinates: Array, size: int) -> tuple[Array, Array]:
        """Pixels (points, taps) of an axis of this size, -1 for none, and their weights, for coordinates -1 to 1.

        >>> pixels, weights = Sampling("bilinear", "zeros", True).taps(np.float32([-1, 0.5, 2]), 3)
        >>> pixels.tolist(), weights.tolist()
        ([[0, 1], [1, 2], [-1, -1]], [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
        """
        x = self._place(coordinates, size)
        if self.mode == "bicubic":
            first = np.floor(x)
            pixels = np.stack([self._inside(first + k, size) for k in (-1, 0, 1, 2)], axis=-1)
            return _existing(pixels, size), _cubic(x - first)
        x = self._inside(x, size)
        if self.mode == "nearest":
            pixels = np.rint(x)[:, None]
            return _existing(np.where(np.isfinite(pixels), pixels, -1), size), np.ones((x.size, 1), np.float32)
        first = np.floor(x)
        return _existing(np.stack([first, first + 1], axis=-1), size), np.stack([first + 1 - x, x - first], axis=-1)

    def _place(self, coordinates: Array, size: int) -> Array:
        """Coordinates -1 to 1 as places on the axis, 0 being the centre of the first pixel."""
        from_start = coordinates + np.float32(1)
        if self.align_corners:
            return np.asarray(from_start * np.float32((size - 1) / 2))
        return np.asarray(from_start * np.float32(size / 2) - np.float32(0.5))

    def _inside(self, x: Array, size: int) -> Array:
        """The places within the axis that stand for these; NaN is 0."""
        if self.padding == "zeros":
            return x
        if self.padding == "reflection":
            x = _reflected(x, 0, size - 1) if self.align_corners else _reflected(x, -0.5, size - 0.5)
        return np.asarray(np.fmin(np.fmax(x, np.float32(0)), np.float32(size - 1)))


def _reflected(x: Array, low: float, high: float) -> Array:
    """``x`` mirrored at ``low`` and ``high`` until it lies between them."""
    span = np.float32(high - low)
    if span == 0:
        return np.zeros_like(x)
    distance = np.abs(x - np.float32(low))
    flips = np.floor(distance / span)
    rest = np.fmod(distance, span)
    return np.asarray(np.where(flips % 2 == 0, rest, span - rest) + np.float32(low))


def _cubic(t: Array) -> Array:
    """What the pixels at distances 1 + t, t, 1 - t and 2 - t count (points, 4).

    Source: R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE Trans. ASSP 1981.
    """
    near, far = np.stack([t, 1 - t]), np.stack([t + 1, 2 - t])
    of_near = ((_A + 2) * near - (_A + 3)) * near * near + 1
    of_far = ((_A * far - 5 * _A) * far + 8 * _A) * far - 4 * _A
    return np.stack([of_far[0], of_near[0], of_near[1], of_far[1]], axis=-1)


def _existing(pixels: Array, size: int) -> Array:
    """Integers as indices, -1 where there is no such pixel; for NaN and infinity, whose weights are NaN, any."""
    pixels = np.where(np.isfinite(pixels), pixels, 0)
    return np.where((pixels >= 0) & (pixels < size), pixels, -1).astype(np.intp)
