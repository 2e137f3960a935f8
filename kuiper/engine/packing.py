"""Weights in the order in which the tile reads them: cut into panels of output channels, one behind the other.

    weight (out_c, in_c, kernel_h, kernel_w)      panel j: [kernel_h * kernel_w][in_c][vectors * LANES]

How many vectors a panel has is decided by what the tile makes of it (``cost.panel_widths``): several vectors keep the
arithmetic units busiest, as long as the sums of many rows fit the registers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.cost import panel_widths
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.memory import for_weights
from kuiper.engine.values import whole_vectors

if TYPE_CHECKING:
    from kuiper.layers.layer import Array
    from kuiper.machine import Machine


# Vectors of a panel that serves one row as well as many. One row keeps four sums under way; with 16 registers many rows
# take the panel by halves.
_ANY_ROWS = 4


@dataclass(frozen=True, slots=True)
class PackedWeights:
    """``panels`` (count, 4): vectors, first output channel, first input channel, offset of the panel in ``weights``."""

    weights: Array
    bias: Array
    panels: Array
    depth: int


def cut_panels(machine: Machine, weight: Array, groups: int, pixels: int) -> list[int]:
    """The widths of the panels of each group, or of as many groups as are packed together."""
    own = len(weight) // groups
    together = _groups_together(own, groups)
    return panel_widths(machine, whole_vectors(own * together) // LANES, pixels, together * weight[0].size)


def pack(machine: Machine, weight: Array, bias: Array | None, groups: int, pixels: int | None) -> PackedWeights:
    """Pack the weight (out_c, in_c / groups, kernel_h, kernel_w) of a convolution over this many pixels, None for any.

    Groups whose outputs fill no whole vector are packed together, with zeros where they do not see each other. If some
    are left at the end, they are packed as if they saw all inputs of this many groups, the last ones.
    """
    out_c, depth = weight.shape[:2]
    own, together = out_c // groups, _groups_together(out_c // groups, groups)
    parts, panels, offset = [], [], 0
    for first in range(0, groups, together):
        last, seen = min(first + together, groups), min(first, groups - together)
        columns = _columns(weight, range(first, last), seen, groups, together)
        start = first * own
        for width in _widths(machine, whole_vectors(columns.shape[1]) // LANES, pixels, len(columns)):
            panels.append((width, start, seen * depth, offset))
            stop = min(start + width * LANES, last * own)
            parts.append((offset, columns[:, start - first * own : stop - first * own], width * LANES))
            offset += len(columns) * width * LANES
            start = stop
    packed = for_weights(offset)
    for offset, columns, lanes in parts:
        panel = packed[offset : offset + len(columns) * lanes].reshape(-1, lanes)
        panel[:, : columns.shape[1]] = columns
        panel[:, columns.shape[1] :] = 0
    return PackedWeights(packed, padded_bias(bias, out_c), np.array(panels, np.intp), depth * together)


def matrix_widths(machine: Machine, out_features: int, in_features: int, rows: int | None) -> tuple[int, ...]:
    """The widths of the panels of a matrix that is packed for this many rows, None for any."""
    return tuple(_widths(machine, whole_vectors(out_features) // LANES, rows, in_features))


def _widths(machine: Machine, vectors: int, pixels: int | None, steps: int) -> list[int]:
    """Of panels of this many vectors in all."""
    if pixels is not None:
        return panel_widths(machine, vectors, pixels, steps)
    rest = vectors % _ANY_ROWS
    return [_ANY_ROWS] * (vectors // _ANY_ROWS) + ([rest] if rest else [])


def matrix_of(packed: PackedWeights, rows: int) -> Array:
    """The matrix (rows, columns) that was packed as the weight of a 1x1 convolution of one group."""
    matrix = np.empty((rows, packed.depth), np.float32)
    for width, start, _, offset in packed.panels.tolist():
        panel = packed.weights[offset : offset + packed.depth * width * LANES].reshape(packed.depth, -1)
        part = matrix[start : start + width * LANES]
        part[...] = panel[:, : len(part)].T
    return matrix


def _columns(weight: Array, packed: range, seen: int, groups: int, together: int) -> Array:
    """The weights of some groups as a matrix (kernel_h * kernel_w * inputs, outputs) over the inputs seen."""
    own, depth, (kernel_h, kernel_w) = len(weight) // groups, weight.shape[1], weight.shape[2:]
    if groups == 1:  # no zeros between groups: no copy for a kernel of 1 x 1, one for others
        whole: Array = weight.transpose(2, 3, 1, 0).reshape(-1, own)
        return whole
    dense = np.zeros((kernel_h, kernel_w, together, depth, len(packed), own), np.float32)
    for i, group in enumerate(packed):
        dense[:, :, group - seen, :, i] = weight[group * own : (group + 1) * own].transpose(2, 3, 1, 0)
    return dense.reshape(-1, len(packed) * own)


def padded_bias(bias: Array | None, channels: int) -> Array:
    """The bias, or zeros if there is none, in whole vectors."""
    padded = np.zeros(whole_vectors(channels), np.float32)
    if bias is not None:
        padded[:channels] = bias
    return padded


def _groups_together(own: int, groups: int) -> int:
    """How many groups of this many outputs are packed together to fill whole vectors."""
    return 1 if groups == 1 else min(groups, LANES // math.gcd(own, LANES))
