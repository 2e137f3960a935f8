"""Weights of products of bytes in the order in which the tile reads them (integer_tile.pxd), without their zero points.

    weight (out_c, in_c, kernel_h, kernel_w)      panel j: [taps][words][vectors * LANES][numbers of a word]

A row of the kernel is one tap of kernel_w * in_c numbers where it lies so in the image: without groups and dilation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.integer_convolution import WIDTH
from kuiper.engine.memory import for_weights

if TYPE_CHECKING:
    from kuiper.layers.convolution import Stencil
    from kuiper.layers.layer import Array


@dataclass(frozen=True, slots=True)
class IntegerWeights:
    """``panels`` (count, 5): vectors, first output, outputs, first input channel, offset of the panel in ``weights``.

    ``sums`` are those of the weights of each output, ``words`` the words under a tap, ``places`` (taps, 2) the row and
    the column of each in the image.
    """

    weights: Array
    sums: Array
    panels: Array
    places: Array
    words: int
    fours: bool


def without_zero_point(weight: Array, zero: Array) -> Array:
    """The weights (out_c, ...) less a zero point for all or one for each output: int16."""
    per_output = np.asarray(zero, np.int16).reshape(-1, *[1] * (weight.ndim - 1))
    return np.asarray(weight.astype(np.int16) - per_output)


def pack_integers(weight: Array, groups: int, stencil: Stencil, fours: bool) -> IntegerWeights:
    """Pack weights (out_c, in_c / groups, kernel_h, kernel_w) of int16; ``fours`` if they fit int8."""
    out_c, depth, kernel_h, kernel_w = weight.shape
    own, step_h, step_w = out_c // groups, *stencil.dilation
    in_rows = groups == 1 and step_w == 1
    taps, run = (kernel_h, kernel_w * depth) if in_rows else (kernel_h * kernel_w, depth)
    columns = weight.transpose(2, 3, 1, 0).reshape(taps, run, out_c)
    places = [(y * step_h, x * step_w) for y in range(kernel_h) for x in (range(1) if in_rows else range(kernel_w))]
    of_word, dtype = (4, np.int8) if fours else (2, np.int16)
    words = -(-run // of_word)
    panels, parts, offset = [], [], 0
    for group in range(groups):
        for first in range(group * own, (group + 1) * own, WIDTH):
            count = min(WIDTH, (group + 1) * own - first)
            vectors = -(-count // LANES)
            panels.append((vectors, first, count, group * depth, offset))
            padded = np.zeros((taps, words * of_word, vectors * LANES), dtype)
            padded[:, :run, :count] = columns[:, :, first : first + count]
            panel = padded.reshape(taps, words, of_word, -1).transpose(0, 1, 3, 2)
            parts.append(np.ascontiguousarray(panel).reshape(-1).view(np.uint8))
            offset += len(parts[-1])
    packed = for_weights(-(-offset // 4)).view(np.uint8)[:offset]
    np.concatenate(parts, out=packed)
    sums = weight.reshape(out_c, -1).sum(axis=1, dtype=np.int32)
    return IntegerWeights(packed, sums, np.array(panels, np.intp), np.array(places, np.intp), words, fours)
