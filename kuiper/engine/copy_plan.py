"""How numbers are copied from one layout to another: over which axes, by which loops, in how many tasks.

Axes of length 1 go, neighbours that lie behind one another on both sides become one axis, and what is left is ordered
as the target lies in memory. kernels/layout.pyx copies.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from kuiper.engine import arrangement
from kuiper.engine.step import MAX_NDIM
from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KINDS = ("runs", "transpose", "weave", "singles")
"""The loops for the last two axes: rows of neighbours; a source whose neighbours lie along the other axis; an RGB image
out of three planes; one number after the other."""

_TASK_FLOATS = 16384  # a few microseconds
_MAX_TASKS = 16

Axis = tuple[int, int, int]
"""A length, and the strides of source and target in floats."""


class CopyPlan(NamedTuple):
    """What a copy needs to know; ``split`` is the axis that is cut into ``tasks``."""

    kind: str
    axes: list[Axis]
    split: int
    tasks: int


def planned(
    shape: Iterable[int],
    source_strides: Iterable[int],
    target_strides: Iterable[int],
    source_in_arena: bool,
    lanes: int,
) -> CopyPlan:
    """The way to copy an array between these strides, one for each axis of ``shape``, with vectors of ``lanes``.

    An image of four channels, to channels-last memory and back:

    >>> planned((1, 4, 8, 6), (192, 48, 6, 1), (192, 1, 24, 4), source_in_arena=False, lanes=8)
    CopyPlan(kind='transpose', axes=[(48, 1, 4), (4, 48, 1)], split=0, tasks=1)
    >>> planned((1, 4, 8, 6), (192, 1, 24, 4), (192, 1, 24, 4), source_in_arena=True, lanes=8)
    CopyPlan(kind='runs', axes=[(1, 0, 0), (192, 1, 1)], split=1, tasks=1)

    Raises
    ------
    ParameterError
        If more axes remain than a step has.
    """
    axes = as_copied(zip(shape, source_strides, target_strides, strict=True))
    kind, axes = _arranged(axes)
    if len(axes) > MAX_NDIM:
        raise ParameterError("a copy", f"at most {MAX_NDIM} axes", len(axes))
    return CopyPlan(kind, axes, *_cut(axes, 1 if source_in_arena else 2, lanes))


def as_copied(axes: Iterable[Axis]) -> list[Axis]:
    """Axes in the target's order, at least two, as few as possible.

    >>> as_copied([(2, 60, 60), (3, 20, 20), (20, 1, 1)])
    [(1, 0, 0), (120, 1, 1)]
    """
    found: list[arrangement.Axis] = [(length, (source, target)) for length, source, target in axes if length != 1]
    found.sort(key=lambda axis: axis[1][1], reverse=True)
    result = [(length, source, target) for length, (source, target) in arrangement.merged(found)] or [(1, 1, 1)]
    return result if len(result) > 1 else [(1, 0, 0), *result]


def _arranged(axes: Sequence[Axis]) -> tuple[str, list[Axis]]:
    """Which loops copy the last two axes, and the axes as these want them.

    A transpose wants the source's contiguous axis last but one.
    """
    *outer, (length, source, target) = axes
    contiguous = [axis for axis in outer if axis[1] == 1]
    if source == target == 1:
        return "runs", [*axes]
    if target != 1 or not contiguous:
        return "singles", [*axes]
    rows = max(contiguous)
    outer.remove(rows)
    return "weave" if length == rows[2] == 3 else "transpose", [*outer, rows, (length, source, target)]


def _cut(axes: Sequence[Axis], in_arena: int, lanes: int) -> tuple[int, int]:
    """Which axis is cut into tasks, and into how many: the outermost in the arena that is long enough.

    ``in_arena`` is the side that lies there: 1 the source, 2 the target. Cut there, threads read or write the parts of
    the image that they wrote or will read.
    """
    total = math.prod(length for length, _, _ in axes)
    wanted = max(1, min(_MAX_TASKS, total // _TASK_FLOATS))
    # the two inner axes must not be cut into pieces shorter than a vector
    pieces = [max(1, length // (lanes if i + 2 >= len(axes) else 1)) for i, (length, _, _) in enumerate(axes)]
    order = sorted(range(len(axes)), key=lambda i: -abs(axes[i][in_arena]))
    split = next((i for i in order if pieces[i] >= wanted), max(order, key=lambda i: pieces[i]))
    return split, min(wanted, pieces[split])
