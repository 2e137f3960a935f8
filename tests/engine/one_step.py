"""Run one step of the engine by hand: channels-last images in an arena, a program of one step, one and two threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.program import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.step import Step

UNTOUCHED = np.float32(-12345)


def run_step(step: Step, arena: np.ndarray, bindings: Sequence[np.ndarray] = ()) -> np.ndarray:
    """The arena after the step; one and two threads must write the same bits. ``bindings`` are changed in place."""
    addresses = np.array([array.ctypes.data for array in bindings] or [0], np.intp)
    results = []
    for num_threads in (1, 2):
        result = arena.copy()
        scratch = np.full((num_threads, max(1, step.scratch_floats)), np.nan, np.float32)
        Program([step]).run(result, addresses, scratch)
        results.append(result)
    np.testing.assert_array_equal(results[0].view(np.int32), results[1].view(np.int32))
    return results[0]


def round_up(count: int) -> int:
    """To whole vectors."""
    return -(-count // LANES) * LANES


class Arena:
    """Grows by one array after the other; ``array`` is the memory, with slack at its end that may be read.

    Everything that nobody filled is NaN or UNTOUCHED, so that a kernel that uses it or writes it is caught.
    """

    def __init__(self) -> None:
        self.array = np.empty(0, np.float32)

    def append(self, numbers: np.ndarray) -> int:
        """The offset of these numbers."""
        start = len(self.array)
        slack = np.full(64, np.nan, np.float32)
        self.array = np.concatenate([self.array[: start - 64 if start else 0], numbers.ravel(), slack])
        return max(0, start - 64)

    def zeros(self, count: int) -> int:
        """The offset of a run of zeros."""
        return self.append(np.zeros(round_up(count) + LANES, np.float32))

    def empty(self, count: int) -> int:
        """The offset of ``count`` floats, all UNTOUCHED."""
        return self.append(np.full(count, UNTOUCHED, np.float32))

    def image(self, x: np.ndarray, spare_lanes: int = 0) -> dict[str, int]:
        """``x`` (n, c, h, w) channels-last, each pixel in whole vectors (and some more), NaN in the spare lanes."""
        n, c, h, w = x.shape
        pixels = np.full((n, h, w, round_up(c) + spare_lanes), np.nan, np.float32)
        pixels[..., :c] = x.transpose(0, 2, 3, 1)
        return {"start": self.append(pixels), **strides_of(pixels)}

    def target(self, n: int, c: int, h: int, w: int, spare_lanes: int = 0) -> dict[str, int]:
        """Room for an image, all UNTOUCHED."""
        pixels = np.full((n, h, w, round_up(c) + spare_lanes), UNTOUCHED, np.float32)
        return {"start": self.append(pixels), **strides_of(pixels)}


def strides_of(pixels: np.ndarray) -> dict[str, int]:
    """Floats from image to image, row to row and pixel to pixel."""
    return dict(zip(("image", "row", "pixel"), (stride // 4 for stride in pixels.strides), strict=False))


def image_at(arena: np.ndarray, place: dict[str, int], n: int, c: int, h: int, w: int) -> np.ndarray:
    """The image (n, c, h, w) that lies there; nothing may have been written beyond its whole vectors."""
    end = place["start"] + n * place["image"]
    pixels = arena[place["start"] : end].reshape(n, h, w, place["pixel"])
    np.testing.assert_array_equal(pixels[..., round_up(c) :], UNTOUCHED)
    return np.ascontiguousarray(pixels[..., :c].transpose(0, 3, 1, 2))
