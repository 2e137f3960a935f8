"""How one axis of an image is resampled: which pixels each output looks at, and what they count.

 input  |  0  |  1  |  2  |           output i of 5, at scale 5/3, has its centre at (i + 1/2) * 3/5 - 1/2:
output  |0 |1 | 2 | 3 |4 |            -0.2  0.4  1.0  1.6  2.2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.layers.layer import Array

_A = np.float32(-0.75)  # of the cubic kernel: torch's choice; Keys prefers -0.5
_HALF = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class Axis:
    """The sizes of one axis before and after, and how an output's place becomes a place in the input.

    Without ``scale`` the ratio of the sizes counts. ``align_corners`` makes the centres of the corner pixels coincide,
    otherwise their outer edges do. All coordinates are float32, rounded where torch rounds them.
    """

    size_in: int
    size_out: int
    scale: float | None = None
    align_corners: bool = False
    of_small_image: bool = False

    def step(self) -> float:
        """The distance in the input between two neighbours of the output, rounded to float32."""
        if self.align_corners:
            return float(np.float32(self.size_in - 1) / np.float32(max(self.size_out - 1, 1)))
        if self.scale is not None:
            return float(np.float32(1 / self.scale))
        return float(np.float32(self.size_in) / np.float32(self.size_out))

    def places(self) -> Array:
        """Where the centres of the outputs lie in the input; 0 is the centre of the first pixel.

        >>> Axis(3, 5).places().round(1).tolist() == np.float32([-0.2, 0.4, 1.0, 1.6, 2.2]).tolist()
        True
        >>> Axis(3, 5, align_corners=True).places().tolist()
        [0.0, 0.5, 1.0, 1.5, 2.0]
        """
        i = np.arange(self.size_out)
        # float64, rounded at the end, is what a fused multiply-add gives: torch's kernels are compiled to use it
        places: Array = i * self.step() if self.align_corners else (i + 0.5) * self.step() - 0.5
        return places.astype(np.float32)


def exact_scale(scale: float) -> float:
    """The number that a file meant by a rounded one: 3.333333e-1 is 1/3, so that 9 pixels become 3 and not 2.

    Simple fractions are restored; any other number is itself.

    >>> exact_scale(3.333333e-1) == 1 / 3, exact_scale(2.3)
    (True, 2.3)
    """
    simple = float(Fraction(scale).limit_denominator(64))
    return simple if abs(simple - scale) <= 5e-7 * abs(scale) else scale


@lru_cache(maxsize=256)
def nearest_table(axis: Axis, exact: bool = False) -> Array:
    """The pixel (size_out,) that each output copies: the one under its left edge, or if ``exact`` under its centre.

    >>> nearest_table(Axis(3, 5)).tolist(), nearest_table(Axis(3, 5), exact=True).tolist()
    ([0, 0, 1, 1, 2], [0, 0, 1, 2, 2])
    """
    i = np.arange(axis.size_out, dtype=np.float32)
    # torch's kernel for small images fuses nothing, and takes a scale that keeps or doubles the size for exactly 1 or 2
    if not exact:
        unscaled = axis.of_small_image and axis.size_out in (axis.size_in, 2 * axis.size_in)
        place = i * (replace(axis, scale=None) if unscaled else axis).step()
    elif axis.of_small_image:
        place = (i + _HALF) * axis.step()
    else:
        place = axis.places() + _HALF
    table: Array = np.minimum(np.floor(place).astype(np.intp), axis.size_in - 1)
    return table


@lru_cache(maxsize=256)
def linear_table(axis: Axis) -> tuple[Array, Array]:
    """Indices and weights (2, size_out) of the pixels before and after each place."""
    if axis.size_in == axis.size_out:  # torch copies, whatever the scale says
        first = np.arange(axis.size_out, dtype=np.intp)
        return np.stack([first, first]), np.stack([np.ones(len(first), np.float32), np.zeros(len(first), np.float32)])
    first, after = _split(np.maximum(axis.places(), np.float32(0)), axis.size_in)
    return np.stack([first, np.minimum(first + 1, axis.size_in - 1)]), np.stack([1 - after, after])


@lru_cache(maxsize=256)
def cubic_table(axis: Axis) -> tuple[Array, Array]:
    """Indices and weights (4, size_out) of two pixels before and two after each place.

    Source: R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE Trans. ASSP 1981, equation 4.
    """
    first, after = _split(axis.places(), axis.size_in)
    indices = np.clip(np.stack([first - 1, first, first + 1, first + 2]), 0, axis.size_in - 1)
    return indices, np.stack([_far(1 + after), _near(after), _near(1 - after), _far(2 - after)])


def _split(places: Array, size: int) -> tuple[Array, Array]:
    """Each place as a pixel and what lies between it and the place, 0 to 1."""
    first = np.minimum(np.floor(places).astype(np.intp), size - 1)
    return first, np.clip(places - first.astype(np.float32), np.float32(0), np.float32(1))


def _near(x: Array) -> Array:
    """The cubic kernel at distances up to 1."""
    weight: Array = ((_A + 2) * x - (_A + 3)) * x * x + 1
    return weight


def _far(x: Array) -> Array:
    """The cubic kernel at distances from 1 to 2."""
    weight: Array = ((_A * x - 5 * _A) * x + 8 * _A) * x - 4 * _A
    return weight
