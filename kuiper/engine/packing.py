"""Weights in the order in which the tile reads them: cut into panels of output channels, one behind the other.

    weight (out_c, in_c, kernel_h, kernel_w)      panel j: [kernel_h * kernel_w][in_c][vectors * LANES]

How many vectors a panel has is decided by what the tile makes of it: 3 or 4 vectors keep the arithmetic units busiest,
but 5 vectors are better cut into 3 + 2 than into 4 + 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.convolution import LANES, MOST_ROWS
from kuiper.engine.values import aligned, whole_vectors

if TYPE_CHECKING:
    from kuiper.layers.layer import Array


@dataclass(frozen=True, slots=True)
class PackedWeights:
    """``panels`` (count, 4): vectors, first output channel, first input channel, offset of the panel in ``weights``."""

    weights: Array
    bias: Array
    panels: Array
    depth: int


# How much longer than its multiply-adds a tile of 1, 2, 3, 4 vectors takes: few vectors leave little for each load to
# do.
_LOAD_PENALTY = (0.0, 1.4, 1.13, 1.0, 1.0)


def tile_cycles(rows: int, vectors: int) -> float:
    """Cycles of one step of a tile: two multiply-adds a cycle, and four cycles until a sum is ready for the next.

    >>> tile_cycles(9, 3), tile_cycles(1, 4)
    (13.5, 4.0)
    """
    return max(rows * vectors / 2 * _LOAD_PENALTY[vectors], 4.0)


def pixel_cycles(pixels: int, vectors: int) -> float:
    """Cycles of one step for so many pixels, in tiles as even as possible."""
    tiles = -(-pixels // MOST_ROWS[vectors - 1])
    small, larger = divmod(pixels, tiles)
    return larger * tile_cycles(small + 1, vectors) + (tiles - larger) * tile_cycles(small, vectors)


def panel_widths(vectors: int, pixels: int) -> list[int]:
    """How many vectors each panel gets, for the fewest cycles; the widest first.

    >>> panel_widths(8, 1000)
    [4, 4]
    """
    costs = {width: pixel_cycles(pixels, width) for width in range(1, 5)}
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for total in range(1, vectors + 1):
        best.append(min((best[total - w][0] + costs[w], [*best[total - w][1], w]) for w in costs if w <= total))
    return sorted(best[vectors][1], reverse=True)


def cut_panels(weight: Array, groups: int, pixels: int) -> list[int]:
    """The widths of the panels of each group, or of as many groups as are packed together."""
    own = len(weight) // groups
    return panel_widths(whole_vectors(own * _groups_together(own, groups)) // LANES, pixels)


def pack(weight: Array, bias: Array | None, groups: int, pixels: int) -> PackedWeights:
    """Pack the weight (out_c, in_c / groups, kernel_h, kernel_w) of a convolution over so many pixels.

    Groups whose outputs fill no whole vector are packed together, with zeros where they do not see each other.
    """
    widths = cut_panels(weight, groups, pixels)
    weight, groups = _merge_groups(weight, groups)
    out_c, depth, kernel_h, kernel_w = weight.shape
    own, length = out_c // groups, kernel_h * kernel_w * depth
    columns = weight.transpose(2, 3, 1, 0).reshape(length, out_c)
    packed = aligned(groups * length * whole_vectors(own))
    panels, offset = [], 0
    for group in range(groups):
        start, last = group * own, (group + 1) * own
        for width in widths:
            panels.append((width, start, group * depth, offset))
            panel = packed[offset : offset + length * width * LANES].reshape(length, width * LANES)
            stop = min(start + width * LANES, last)
            panel[:, : stop - start] = columns[:, start:stop]
            panel[:, stop - start :] = 0
            offset += panel.size
            start = stop
    return PackedWeights(packed, padded_bias(bias, out_c), np.array(panels, np.intp), depth)


def padded_bias(bias: Array | None, channels: int) -> Array:
    """The bias, or zeros if there is none, in whole vectors."""
    padded = np.zeros(whole_vectors(channels), np.float32)
    if bias is not None:
        padded[:channels] = bias
    return padded


def _groups_together(own: int, groups: int) -> int:
    """How many groups of so many outputs must be packed together to fill whole vectors."""
    together = LANES // math.gcd(own, LANES)
    return 1 if groups == 1 else groups if groups % together else together


def _merge_groups(weight: Array, groups: int) -> tuple[Array, int]:
    """The same convolution with so few groups that each has whole vectors of outputs (or with one group)."""
    own, depth = len(weight) // groups, weight.shape[1]
    together = _groups_together(own, groups)
    if together == 1:
        return weight, groups
    dense = np.zeros((len(weight), depth * together, *weight.shape[2:]), np.float32)
    for output in range(len(weight)):
        first = output // own % together * depth
        dense[output, first : first + depth] = weight[output]
    return dense, groups // together
