"""What digit scenes are written on: colours, and papers made of two of them.

A *field* says for each pixel how much of the second colour it has, 0 to 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable

Array = npt.NDArray[np.float32]
Size = tuple[int, int]
Random = np.random.Generator

# How much red, green and blue count for brightness (ITU-R BT.601, as in Pillow's grey pictures).
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
MAX_WITHIN_PAPER = 70.0  # how far apart in brightness the two colours of a paper are; ink differs by more
MIN_OF_INK = 85.0


def background(size: Size, rng: Random) -> Array:
    """A paper (h, w, 3) of two colours that are not far apart, 0 to 255.

    >>> paper = background((64, 96), np.random.default_rng(0))
    >>> paper.shape, bool(paper.min() >= 0), bool(paper.max() <= 255)
    ((64, 96, 3), True, True)
    """
    first = second = _muted(rng)
    while first is second or abs(float((first - second) @ LUMA)) > MAX_WITHIN_PAPER:
        second = _muted(rng)
    if rng.random() < 0.5:  # half of the papers are of one hue
        second = np.clip(first + np.float32(rng.uniform(-50, 50)), 0, 255)
    field: Callable[[Size, Random], Array] = FIELDS[rng.integers(len(FIELDS))]
    return first + field(size, rng)[..., np.newaxis] * (second - first)


def ink_on(paper: Array, rng: Random) -> Array:
    """A colour that can be told from the mean of ``paper`` (h, w, 3) by its brightness.

    >>> paper = np.full((4, 4, 3), 128, np.float32)
    >>> bool(abs((ink_on(paper, np.random.default_rng(1)) - 128) @ LUMA) >= MIN_OF_INK)
    True
    """
    brightness = float(paper.mean((0, 1)) @ LUMA)
    ink = rng.uniform(0, 255, 3).astype(np.float32)
    while abs(float(ink @ LUMA) - brightness) < MIN_OF_INK:
        ink = rng.uniform(0, 255, 3).astype(np.float32)
    return ink


def gradient(size: Size, rng: Random) -> Array:
    """From one colour to the other in some direction."""
    angle = rng.uniform(0, 2 * np.pi)
    y, x = np.mgrid[0 : size[0], 0 : size[1]].astype(np.float32)
    return _stretch(x * math.cos(angle) + y * math.sin(angle))


def clouds(size: Size, rng: Random) -> Array:
    """Blots within blots: smooth noise of four sizes, the finer the fainter."""
    coarsest = rng.integers(2, 5)
    total = sum(_smooth_noise(size, int(coarsest * 2**i), rng) / 1.8**i for i in range(4))
    return _stretch(np.asarray(total, np.float32))


def grain(size: Size, rng: Random) -> Array:
    """Rough paper: a speck for each pixel on faint blots."""
    specks = rng.standard_normal(size, dtype=np.float32) * rng.uniform(0.05, 0.2)
    return np.clip(0.5 + specks + 0.5 * _smooth_noise(size, 4, rng), 0, 1)


def waves(size: Size, rng: Random) -> Array:
    """Stripes that are bent by noise, as in wood or cloth."""
    bent = gradient(size, rng) * rng.uniform(4, 25) + _smooth_noise(size, 3, rng) * rng.uniform(0, 3)
    wave: Array = np.sin(2 * np.pi * bent)
    return 0.5 + 0.5 * wave


def ruled(size: Size, rng: Random) -> Array:
    """Lines of a notebook, or squares."""
    field = np.zeros(size, np.float32)
    step, thickness = int(rng.integers(9, 40)), int(rng.integers(1, 3))
    start = int(rng.integers(step))
    for i in range(thickness):
        field[start + i :: step] = 1
        if step % 2:
            field[:, start + i :: step] = 1
    return field * np.float32(rng.uniform(0.4, 1))


def tiles(size: Size, rng: Random) -> Array:
    """Squares, each in a mixture of its own."""
    side = int(rng.integers(30, 120))
    across = rng.random((size[0] // side + 1, size[1] // side + 1), dtype=np.float32)
    return np.kron(across, np.ones((side, side), np.float32))[: size[0], : size[1]]


FIELDS = (gradient, clouds, grain, waves, ruled, tiles)


def _muted(rng: Random) -> Array:
    """A colour, more often greyish than bright."""
    colour = rng.uniform(10, 245, 3).astype(np.float32)
    grey = colour @ LUMA
    return grey + (colour - grey) * np.float32(rng.uniform(0, 1))


def _smooth_noise(size: Size, cells: int, rng: Random) -> Array:
    """Normal numbers at about ``cells`` x ``cells`` places and everything between them interpolated."""
    coarse = Image.fromarray(rng.standard_normal((cells + 1, cells + 1), dtype=np.float32))
    return np.asarray(coarse.resize(size[::-1], Image.Resampling.BICUBIC), np.float32)


def _stretch(values: Array) -> Array:
    """The same with its smallest value at 0 and its largest at 1."""
    return (values - values.min()) / (values.max() - values.min())
