"""Receptive fields: which rows and columns of the input picture an output pixel can depend on.

Each axis goes by itself. For every row of a value there is an interval of the input's rows, its first and its last.
An operator adds, for every row of its output, the interval of rows of its input that it reads; then

    first[i] = first_of_input[reads_from[i]]        last[i] = last_of_input[reads_to[i]]

so the intervals are exact for chains and the smallest that hold all ways for branches. A second description goes along,
the one of textbooks: size, step and start of the field as if the picture had no ends.

Source: A. Araujo et al., "Computing Receptive Fields of Convolutional Neural Networks", Distill 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kuiper.explore.arrays import Table
    from kuiper.layers.layer import Array
    from kuiper.layers.reads import Reads


@dataclass(frozen=True, eq=False)
class AxisField:
    """One axis of a receptive field, as ``Reads`` of the whole way from the input; ``whole``: everything mixes."""

    first: Array
    last: Array
    step: float
    low: float
    high: float
    whole: bool = False


@dataclass(frozen=True, eq=False)
class Field:
    """The receptive field of a value's pixels in the input picture: rows and columns."""

    rows: AxisField
    columns: AxisField

    @property
    def whole(self) -> bool:
        return self.rows.whole or self.columns.whole

    def table(self) -> Table:
        """The entry of the page's ``fields``."""
        axes = (self.rows, self.columns)
        return {
            "size": [round(axis.high - axis.low + 1, 3) for axis in axes],
            "step": [round(axis.step, 5) for axis in axes],
            "start": [round(axis.low, 3) for axis in axes],
            "rows": [self.rows.first.tolist(), self.rows.last.tolist()],
            "columns": [self.columns.first.tolist(), self.columns.last.tolist()],
            "whole": self.whole,
        }


def identity(size: int) -> AxisField:
    """The field of the input itself: each pixel sees itself.

    >>> identity(3).first.tolist()
    [0, 1, 2]
    """
    places = np.arange(size)
    return AxisField(places, places, 1.0, 0.0, 0.0)


def everything(outputs: int, inputs: int) -> AxisField:
    """Every one of this many pixels sees all of as many.

    >>> everything(2, 5).last.tolist()
    [4, 4]
    """
    zeros = np.zeros(outputs, np.int64)
    return AxisField(zeros, zeros + inputs - 1, 0.0, 0.0, inputs - 1.0, whole=True)


def composed(field: AxisField, reads: Reads) -> AxisField:
    """The field behind an operator that reads a value with this field.

    >>> from kuiper.layers.reads import window_reads
    >>> conv = window_reads(8, 6, kernel=3, stride=1, before=0)
    >>> twice = composed(composed(identity(8), conv), window_reads(6, 4, kernel=3, stride=1, before=0))
    >>> twice.first.tolist(), twice.last.tolist(), twice.high - twice.low + 1
    ([0, 1, 2, 3], [4, 5, 6, 7], 5.0)
    """
    nothing = reads.first > reads.last  # a window that lies in the padding only
    first = field.first[np.minimum(reads.first, len(field.first) - 1)]
    last = field.last[np.maximum(reads.last, 0)]
    first, last = np.where(nothing, 1, first), np.where(nothing, 0, last)
    if field.whole:
        return AxisField(first, last, 0.0, field.low, field.high, whole=True)
    low, high = field.step * reads.low + field.low, field.step * reads.high + field.high
    return AxisField(first, last, field.step * reads.step, low, high)


def union(fields: list[AxisField]) -> AxisField:
    """The field of what reads several values of one size, each at its own place."""
    if len(fields) == 1:
        return fields[0]
    nothing = [field.first > field.last for field in fields]
    firsts = [np.where(none, np.iinfo(np.int64).max, field.first) for field, none in zip(fields, nothing, strict=True)]
    lasts = [np.where(none, -1, field.last) for field, none in zip(fields, nothing, strict=True)]
    first, last = np.min(firsts, axis=0), np.max(lasts, axis=0)
    first = np.where(last < 0, 1, first)
    last = np.where(last < 0, 0, last)
    steps = {round(field.step, 9) for field in fields}
    low, high = min(field.low for field in fields), max(field.high for field in fields)
    whole = len(steps) > 1 or any(field.whole for field in fields)
    return AxisField(first, last, fields[0].step, low, high, whole)
