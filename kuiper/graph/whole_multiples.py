"""Weights that are whole multiples of a step, as those of a quantised file are: which step, and how many of it."""

from __future__ import annotations

import numpy as np

_MAX_STEPS = 255
"""Steps from zero to the largest weight: a byte less a zero point."""

_TOLERANCE = 1e-3
"""How far from an integer number of steps a weight may lie: rounding to float32 moves it by 255 * 2**-23 at most."""

_SAMPLE = 64


def whole_multiples(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The weights (outputs, ...) as ``numbers * step``, with one step or one for each output; None if they are no such.

    Numbers are int8, or int16 where they do not fit it; steps are float32.

    >>> numbers, step = whole_multiples(np.float32([[0.5, 63.5, -3]]))
    >>> numbers.tolist(), step.tolist()
    ([[1, 127, -6]], [0.5])
    """
    rows = weight.reshape(len(weight), -1).astype(np.float64)
    if not rows.size or not np.isfinite(rows).all():
        return None
    for parts in (rows.reshape(1, -1), rows):
        counts = [_steps_of_largest(row) for row in parts]
        if all(counts):
            steps = (np.abs(parts).max(axis=1) / counts).astype(np.float32)
            steps[steps == 0] = 1
            numbers = np.rint(parts / steps[:, None].astype(np.float64)).reshape(weight.shape)
            return numbers.astype(np.int8 if np.abs(numbers + 0.5).max() < 128 else np.int16), steps
    return None


def _steps_of_largest(row: np.ndarray) -> int:
    """How many steps the largest number has, so that all are whole; 0 if none is found, 1 of nothing but zeros."""
    largest = float(np.abs(row).max())
    if largest == 0:
        return 1
    sample = row[:: max(1, row.size // _SAMPLE)]
    counts: list[int] = [127, 128, *range(126, 0, -1), *range(129, _MAX_STEPS + 1)]
    for count in counts:
        step = largest / count
        if _are_whole(sample / step) and _are_whole(row / step):
            return count
    return 0


def _are_whole(numbers: np.ndarray) -> bool:
    return bool((np.abs(numbers - np.rint(numbers)) < _TOLERANCE).all())
