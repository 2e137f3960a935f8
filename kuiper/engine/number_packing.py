"""Weights of 8 and 4 bits in panels of outputs, for the two kernels that multiply with them, and back again.

    weight (out, in)      quantized_product.pyx    panel j: [bytes of an output][width]
                          split_int8_product.pyx        panel j: [words of an output][width], without a sign

A word is four bytes of one output. In 4 bits it has eight numbers, of which the kernel wants the first four in the
lower halves of its bytes. Some outputs are packed at a time: what that needs beside the panels stays in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels import quantized_product, split_int8_product
from kuiper.engine.memory import for_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.quantized_weight import QuantizedWeight
    from kuiper.layers.layer import Array

_PART = 1 << 18  # bytes that are packed at a time
_SIGNS = {8: 0x80, 4: 0x88}  # what makes numbers from 0 on of those in two's complement


@dataclass(frozen=True, slots=True)
class PackedNumbers:
    """A quantised weight in panels of ``width`` outputs; see quantized_product.pyx and split_int8_product.pyx."""

    weights: Array
    scales: Array
    width: int


def packed_numbers(weight: QuantizedWeight) -> PackedNumbers:
    """The integers of a weight (out, in) in panels, and its scales (panels, groups, width)."""
    width = quantized_product.WIDTH
    data = _in_panels(weight.data.view(np.uint8), width)
    return PackedNumbers(data, _scales_in_panels(weight, np.float32, width), width)


def numbers_of(packed: PackedNumbers, weight: QuantizedWeight) -> Array:
    """The data of the weight that ``packed_numbers`` has packed."""
    return _rows_of(packed.weights, weight.shape[0]).view(weight.stored.dtype)


def packed_for_split_int8(weight: QuantizedWeight) -> PackedNumbers:
    """The same for split_int8_product.pyx: four bytes of an output side by side, without a sign; scales as bytes."""
    data, width = weight.data.view(np.uint8), split_int8_product.WIDTH
    words = -(-data.shape[1] // 4)
    packed = _panels(len(data), words, np.dtype(np.uint32), width)
    for rows, panels in _parts(len(data), data.shape[1], width):
        part = np.zeros((width * len(packed[panels]), 4 * words), np.uint8)
        part[: len(data[rows]), : data.shape[1]] = data[rows] ^ _SIGNS[weight.bits]
        if weight.bits == 4:
            first, second = np.moveaxis(part.reshape(-1, words, 2, 2), 2, 0)
            part = np.stack(_crossed(first, second), axis=-1)
        _fill(packed[panels], part.reshape(-1, 4 * words).view(np.uint32))
    scales = _scales_in_panels(weight, np.float16 if weight.in_groups else np.float32, width)
    return PackedNumbers(packed.view(np.uint8), scales.view(np.uint8), width)


def numbers_of_split_int8(packed: PackedNumbers, weight: QuantizedWeight) -> Array:
    """The data of the weight that ``packed_for_split_int8`` has packed."""
    rows = _rows_of(packed.weights.view(np.uint32), weight.shape[0]).view(np.uint8)
    if weight.bits == 4:
        even, odd = np.moveaxis(rows.reshape(len(rows), -1, 2, 2), 3, 0)
        rows = np.stack(_crossed(even, odd), axis=-2).reshape(rows.shape)
    data = rows[:, : weight.stored.shape[1]] ^ _SIGNS[weight.bits]
    return np.ascontiguousarray(data).view(weight.stored.dtype)


def _crossed(first: Array, second: Array) -> tuple[Array, Array]:
    """The lower halves of two bytes as one byte, and the higher halves; done twice, it changes nothing."""
    return first & 15 | second << 4, first >> 4 | second & 0xF0


def _panels(outputs: int, length: int, dtype: np.dtype, width: int) -> Array:
    """Memory (panels, length, width), among other weights."""
    panels = -(-outputs // width)
    count = panels * length * width
    return for_weights(-(-count * dtype.itemsize // 4)).view(dtype)[:count].reshape(panels, length, width)


def _parts(outputs: int, row_bytes: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Some outputs at a time, and their panels."""
    step = max(1, _PART // max(1, row_bytes * width))
    for first in range(0, -(-outputs // width), step):
        panels = slice(first, min(first + step, -(-outputs // width)))
        yield slice(panels.start * width, min(panels.stop * width, outputs)), panels


def _fill(panels: Array, rows: Array) -> None:
    """Rows, as many as the panels have, to their places."""
    panels[...] = rows.reshape(len(panels), -1, rows.shape[1]).transpose(0, 2, 1)


def _in_panels(rows: Array, width: int) -> Array:
    """(n, length) -> (panels, length, width), with zeros behind the last row."""
    packed = _panels(rows.shape[0], rows.shape[1], rows.dtype, width)
    for some, panels in _parts(len(rows), rows.shape[1] * rows.itemsize, width):
        part = np.zeros((width * len(packed[panels]), rows.shape[1]), rows.dtype)
        part[: len(rows[some])] = rows[some]
        _fill(packed[panels], part)
    return packed


def _rows_of(panels: Array, outputs: int) -> Array:
    """(panels, length, width) -> (outputs, length)."""
    rows = np.empty((len(panels), panels.shape[2], panels.shape[1]), panels.dtype)
    rows[...] = panels.transpose(0, 2, 1)
    return rows.reshape(-1, panels.shape[1])[:outputs]


def _scales_in_panels(weight: QuantizedWeight, kind: type[np.floating], width: int) -> Array:
    """(panels, groups, width)."""
    scales = weight.scales if weight.in_groups else weight.scales[:, None]
    return _in_panels(scales.astype(kind, copy=False), width)
