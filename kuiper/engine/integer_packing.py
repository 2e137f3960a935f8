"""Weights of products of bytes in the order in which the tile reads them (integer_tile.pxd), without their zero points.

    weight (out_c, in_c, kernel_h, kernel_w)      panel j: [taps][words][vectors * LANES][numbers of a word]

A row of the kernel is one tap of kernel_w * in_c numbers where it lies so in the image: without groups and dilation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.kernels.integer_convolution import LANES_WOVEN, WIDTH
from kuiper.engine.memory import for_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.layers.layer import Array
    from kuiper.layers.window import Window


_LEAST, _MOST = -128, 127  # of int8


@dataclass(frozen=True, slots=True)
class IntegerWeights:
    """``panels`` (count, 6): vectors, first output, outputs, first input channel, offset of weights, whether it lacks.

    ``sums`` are those of the weights of each output, ``words`` the words under a tap (of depthwise ones the taps under
    an output), ``places`` (taps, 2) the row and the column of each in the image. ``lacking`` is what was taken off the
    weights of each output, so that they fit.
    """

    weights: Array
    sums: Array
    panels: Array
    places: Array
    words: int
    lacking: Array
    fours: bool
    depthwise: bool = False


def without_zero_point(weight: Array, zero: Array) -> Array:
    """The weights (out_c, ...) less a zero point for all or one for each output: int16."""
    per_output = np.asarray(zero, np.int16).reshape(-1, *[1] * (weight.ndim - 1))
    return np.asarray(weight.astype(np.int16) - per_output)


def fits_fours(weight: Array, groups: int) -> bool:
    """Whether four weights (out_c, ...) of int16 fit a word, of one group less a number for each output.

    >>> fits_fours(np.int16([[-200, 55], [0, 255]]), 1), fits_fours(np.int16([[-200, 55]]), 2)
    (True, False)
    """
    rows = weight.reshape(len(weight), -1)
    if groups > 1:
        return bool(rows.min() >= _LEAST and rows.max() <= _MOST)
    return int((rows.max(1) - rows.min(1)).max()) <= _MOST - _LEAST


def _lacking(weight: Array) -> Array:
    """The least numbers that must be taken off the weights of each output so that they fit int8: int32 (out_c)."""
    rows = weight.reshape(len(weight), -1).astype(np.int32)
    return np.asarray(np.clip(0, rows.max(1) - _MOST, rows.min(1) - _LEAST), np.int32)


def pack_integers(weight: Array, groups: int, window: Window, fours: bool) -> IntegerWeights:
    """Pack weights (out_c, in_c / groups, kernel_h, kernel_w) of int16; ``fours`` if they fit (``fits_fours``)."""
    out_c, depth, kernel_h, kernel_w = weight.shape
    lacking = _lacking(weight) if fours else np.zeros(out_c, np.int32)
    whole, weight = weight, weight - lacking[:, None, None, None]
    own, step_h, step_w = out_c // groups, *window.dilation
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
    return _joined(whole, parts, panels, places, words, lacking, fours)


def pack_depthwise(weight: Array, window: Window, fours: bool) -> IntegerWeights:
    """Pack weights (channels, 1, kernel_h, kernel_w) of int16, where each output has a channel of its own.

    Two or four taps are a word. Channels stand in the order in which the kernel weaves them: the first four of each
    lane of 128 bits, the next four of each, and so on.
    """
    channels, _, kernel_h, kernel_w = weight.shape
    taps, of_word, dtype = kernel_h * kernel_w, *((4, np.int8) if fours else (2, np.int16))
    more = -taps % of_word
    places = [(y * window.dilation[0], x * window.dilation[1]) for y in range(kernel_h) for x in range(kernel_w)]
    lacking = _lacking(weight) if fours else np.zeros(channels, np.int32)
    padded = np.zeros((taps + more, -(-channels // WIDTH) * WIDTH), dtype)
    padded[:taps, :channels] = (weight.reshape(channels, taps) - lacking[:, None]).T
    lanes = LANES_WOVEN // 2 if fours else LANES_WOVEN
    in_order = np.arange(WIDTH)
    order = in_order if LANES_WOVEN == 1 else in_order.reshape(lanes, -1, 4).swapaxes(0, 1).reshape(-1)
    panels, parts, offset = [], [], 0
    for first in range(0, channels, WIDTH):
        panel = padded[:, first + order].reshape(-1, of_word, WIDTH).transpose(0, 2, 1)
        count = min(WIDTH, channels - first)
        panels.append((-(-count // LANES), first, count, first, offset))
        parts.append(np.ascontiguousarray(panel).reshape(-1).view(np.uint8))
        offset += len(parts[-1])
    return _joined(weight, parts, panels, places + places[:1] * more, taps, lacking, fours, True)


def _joined(
    weight: Array,
    parts: list[Array],
    panels: Sequence[tuple[int, ...]],
    places: Sequence[tuple[int, int]],
    words: int,
    lacking: Array,
    fours: bool,
    depthwise: bool = False,
) -> IntegerWeights:
    """Panels, one behind the other."""
    size = sum(map(len, parts))
    packed = for_weights(-(-size // 4)).view(np.uint8)[:size]
    np.concatenate(parts, out=packed)
    sums = weight.reshape(len(weight), -1).sum(axis=1, dtype=np.int32)
    lacks = [np.any(lacking[first : first + count]) for _, first, count, _, _ in panels]
    ends = np.column_stack([np.array(panels, np.intp), np.array(lacks, np.intp)]), np.array(places, np.intp)
    return IntegerWeights(packed, sums, *ends, words, lacking, fours, depthwise)
