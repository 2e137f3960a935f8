"""How a wrong array resembles the right one: what a wrong loop, axis or sign leaves behind in the numbers."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.course.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST = 3  # numbers that differ: fewer resemble anything
TOLERANCE = 1e-5


def resemblance(got: Any, expected: Any) -> str:
    """Completes "this is what you get when ..."; "" where the two have nothing of that kind in common.

    >>> resemblance(np.float32([[1, 2, 3], [0, 0, 0]]), np.float32([[1, 2, 3], [4, 5, 6]]))
    'along axis 0 only index 0 is computed, and the rest is as it was'
    >>> resemblance(np.float32([2, 4, 6]), np.float32([1, 2, 3]))
    'every number is 2 times what it should be'
    """
    if not isinstance(got, np.ndarray) or not isinstance(expected, (np.ndarray, list)):
        return ""
    try:
        wanted = np.asarray(expected)
    except ValueError:  # lists that differ in length
        return ""
    kinds = got.dtype.kind + wanted.dtype.kind
    if got.shape != wanted.shape or not set(kinds) <= set("fiu") or not np.isfinite(wanted).all():
        return ""
    if len(np.unique(wanted)) < LEAST or not np.isfinite(got).all():
        return ""
    return next(_words(got.astype(np.float64), wanted.astype(np.float64)), "")


def _words(got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    if not got.any():
        yield phrase("nothing is written into the result: all its numbers are 0")
    yield from _along_an_axis(got, expected)
    yield from _axes_swapped(got, expected)
    yield from _by_arithmetic(got, expected)


def _along_an_axis(got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    for axis in (axis for axis in range(got.ndim) if got.shape[axis] > 1):
        mine, theirs = np.moveaxis(got, axis, 0), np.moveaxis(expected, axis, 0)
        if _equal(mine[0], theirs[0]) and mine[1:].size > 1 and len(np.unique(mine[1:])) == 1:
            yield phrase("along axis {axis} only index 0 is computed, and the rest is as it was", axis=axis)
        if _equal(mine, np.broadcast_to(theirs[0], mine.shape)):
            yield phrase("along axis {axis} every index gets what belongs to index 0", axis=axis)
        if _equal(mine, theirs[::-1]):
            yield phrase("axis {axis} is turned round: what belongs to its first index comes last", axis=axis)
        if len(mine) > 2 and _equal(mine[:-1], theirs[:-1]) and _mostly_differ(mine[-1], theirs[-1]):
            yield phrase(
                "along axis {axis} only the last index is wrong: a loop ends too early, or looks beyond the end",
                axis=axis,
            )
        if len(mine) > 2 and _equal(mine[1:], theirs[1:]) and _mostly_differ(mine[0], theirs[0]):
            yield phrase(
                "along axis {axis} only index 0 is wrong: a loop begins too late, or looks at what lies before it",
                axis=axis,
            )


def _axes_swapped(got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    for one, other in combinations(range(got.ndim), 2):
        if got.shape[one] == got.shape[other] > 1 and _equal(got, expected.swapaxes(one, other)):
            yield phrase("axes {one} and {other} are swapped", one=one, other=other)


def _by_arithmetic(got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    if _equal(got, -expected):
        yield phrase("every sign is turned")
    if _equal(got, np.abs(expected)):
        yield phrase("negative numbers lose their sign")
    if _equal(got, np.trunc(expected)) or _equal(got, np.floor(expected)):
        yield phrase("what stands behind the decimal point is cut off")
    difference = got - expected
    if _equal(difference, np.broadcast_to(difference.flat[0], got.shape)):
        yield phrase("every number is {by} off", by=format(difference.flat[0], "+.4g"))
    largest = np.abs(expected).argmax()
    factor = got.flat[largest] / expected.flat[largest]
    if 1e-4 < abs(factor) < 1e4 and _equal(got, factor * expected):
        yield phrase("every number is {factor} times what it should be", factor=format(factor, ".4g"))
    for axis in (axis for axis in range(got.ndim) if 1 < got.shape[axis] < got.size):
        parts = np.moveaxis(difference, axis, 0).reshape(got.shape[axis], -1)
        if _equal(parts, np.broadcast_to(parts[:, :1], parts.shape)):
            yield phrase(
                "each index of axis {axis} is off by a number of its own: a bias, say, left out or added twice",
                axis=axis,
            )


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    scale = max(float(np.abs(other).max(initial=0.0)), 1e-30)
    return bool(one.shape == other.shape and np.abs(one - other).max(initial=0.0) <= TOLERANCE * scale)


def _mostly_differ(one: np.ndarray, other: np.ndarray) -> bool:
    """A single wrong number among many stands at the end of some axis by chance."""
    return bool((one != other).mean() >= 0.5)
