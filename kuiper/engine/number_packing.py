"""Weights of 8 and 4 bits in panels of WIDTH outputs, for the two kernels that multiply with them, and back again.

    weight (out, in)      quantized_product.pyx    panel j: [bytes of an output][WIDTH]
                          digit_product.pyx        panel j: [words of an output][WIDTH], without a sign

A word is four bytes of one output. In 4 bits it has eight numbers, of which the kernel wants the first four in the
lower halves of its bytes. Some outputs are packed at a time: what that needs beside the panels stays in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.kernels.quantized_product import WIDTH
from kuiper.engine.memory import for_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.quantized_weight import QuantizedWeight
    from kuiper.layers.layer import Array

_PART = 1 << 18  # bytes that are packed at a time
_SIGNS = {8: 0x80, 4: 0x88}  # what makes numbers from 0 on of those in two's complement


@dataclass(frozen=True, slots=True)
class PackedNumbers:
    """A quantised weight in panels of WIDTH outputs; see quantized_product.pyx."""

    weights: Array
    scales: Array


def packed_numbers(weight: QuantizedWeight) -> PackedNumbers:
    """The whole numbers of a weight (out, in) in panels, and its scales (panels, groups, WIDTH)."""
    return PackedNumbers(_in_panels(weight.data.view(np.uint8)), _scales_in_panels(weight, np.float32))


def numbers_of(packed: PackedNumbers, weight: QuantizedWeight) -> Array:
    """The data of the weight that ``packed_numbers`` has packed."""
    return _rows_of(packed.weights, weight.shape[0]).view(weight.stored.dtype)


def packed_for_digits(weight: QuantizedWeight) -> PackedNumbers:
    """The same for digit_product.pyx: four bytes of an output side by side, without a sign; scales as bytes."""
    data = weight.data.view(np.uint8)
    words = -(-data.shape[1] // 4)
    packed = _panels(len(data), words, np.dtype(np.uint32))
    for rows, panels in _parts(len(data), data.shape[1]):
        part = np.zeros((WIDTH * len(packed[panels]), 4 * words), np.uint8)
        part[: len(data[rows]), : data.shape[1]] = data[rows] ^ _SIGNS[weight.bits]
        if weight.bits == 4:
            first, second = np.moveaxis(part.reshape(-1, words, 2, 2), 2, 0)
            part = np.stack(_crossed(first, second), axis=-1)
        _fill(packed[panels], part.reshape(-1, 4 * words).view(np.uint32))
    scales = _scales_in_panels(weight, np.float32 if weight.bits == 8 else np.float16)
    return PackedNumbers(packed.view(np.uint8), scales.view(np.uint8))


def numbers_of_digits(packed: PackedNumbers, weight: QuantizedWeight) -> Array:
    """The data of the weight that ``packed_for_digits`` has packed."""
    rows = _rows_of(packed.weights.view(np.uint32), weight.shape[0]).view(np.uint8)
    if weight.bits == 4:
        even, odd = np.moveaxis(rows.reshape(len(rows), -1, 2, 2), 3, 0)
        rows = np.stack(_crossed(even, odd), axis=-2).reshape(rows.shape)
    data = rows[:, : weight.stored.shape[1]] ^ _SIGNS[weight.bits]
    return np.ascontiguousarray(data).view(weight.stored.dtype)


def _crossed(first: Array, second: Array) -> tuple[Array, Array]:
    """The lower halves of two bytes as one byte, and the higher halves; done twice, it changes nothing."""
    return first & 15 | second << 4, first >> 4 | second & 0xF0


def _panels(outputs: int, length: int, dtype: np.dtype) -> Array:
    """Memory (panels, length, WIDTH), among other weights."""
    panels = -(-outputs // WIDTH)
    count = panels * length * WIDTH
    return for_weights(-(-count * dtype.itemsize // 4)).view(dtype)[:count].reshape(panels, length, WIDTH)


def _parts(outputs: int, row_bytes: int) -> Iterator[tuple[slice, slice]]:
    """Some outputs at a time, and their panels."""
    step = max(1, _PART // max(1, row_bytes * WIDTH))
    for first in range(0, -(-outputs // WIDTH), step):
        panels = slice(first, min(first + step, -(-outputs // WIDTH)))
        yield slice(panels.start * WIDTH, min(panels.stop * WIDTH, outputs)), panels


def _fill(panels: Array, rows: Array) -> None:
    """Rows, as many as the panels have, to their places."""
    panels[...] = rows.reshape(-1, WIDTH, rows.shape[1]).transpose(0, 2, 1)


def _in_panels(rows: Array) -> Array:
    """(n, length) -> (panels, length, WIDTH), with zeros behind the last row."""
    packed = _panels(rows.shape[0], rows.shape[1], rows.dtype)
    for some, panels in _parts(len(rows), rows.shape[1] * rows.itemsize):
        part = np.zeros((WIDTH * len(packed[panels]), rows.shape[1]), rows.dtype)
        part[: len(rows[some])] = rows[some]
        _fill(packed[panels], part)
    return packed


def _rows_of(panels: Array, outputs: int) -> Array:
    """(panels, length, WIDTH) -> (outputs, length)."""
    rows = np.empty((len(panels), WIDTH, panels.shape[1]), panels.dtype)
    rows[...] = panels.transpose(0, 2, 1)
    return rows.reshape(-1, panels.shape[1])[:outputs]


def _scales_in_panels(weight: QuantizedWeight, kind: type[np.floating]) -> Array:
    """(panels, groups, WIDTH)."""
    return _in_panels(weight.scales.reshape(weight.shape[0], -1).astype(kind, copy=False))
