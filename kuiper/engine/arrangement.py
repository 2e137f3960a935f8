"""The order in which an elementwise step walks over its values: which axis is last, and which axes are one.

What is computed for each number alone can be computed in any order. The best is that of the output in memory, with as
few axes as possible: two are one where, for every value, the stride of the first is that of the second times its size.

    (n, c, h, w) in channels-last memory    (n, h, w, c)      in the order of memory
                                            (n * h * w * c)   one axis, if no value has gaps and none is broadcast
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = 256
"""Below this many numbers a block of the last two axes is worth another choice of axes."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Sizes of the axes, strides of each value along them, and the size of a chunk, for equally many axes."""

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    chunk: tuple[int, ...]


def arranged(shape: Sequence[int], strides: Sequence[Sequence[int]], whole: int, axes: int, chunk: int) -> Arrangement:
    """Axes in the best order, for values with these strides, the output first.

    ``whole`` is the number to a multiple of which the last axis may be rounded up; ``axes`` how many axes the result
    has, ``chunk`` (a multiple of 16) how many numbers are done at a time.

    >>> channels_last = (8 * 6 * 16, 1, 6 * 16, 16)
    >>> plan = arranged((2, 10, 8, 6), [channels_last, channels_last, (0, 1, 0, 0)], 16, 3, 1024)
    >>> plan.shape, plan.strides
    ((1, 96, 16), ((0, 16, 1), (0, 16, 1), (0, 0, 1)))
    >>> plan.chunk
    (1, 64, 16)

    Raises
    ------
    ParameterError
        If more axes remain.
    """
    found = [(size, steps) for size, steps in zip(shape, zip(*strides, strict=True), strict=True) if size != 1]
    found.sort(key=lambda axis: -abs(axis[1][0]))
    found = merged(_rounded_up(merged(found), whole))
    if len(found) > axes:
        raise ParameterError("an elementwise step", f"at most {axes} axes", len(found))
    _swap_for_longer_blocks(found)
    none = (1, (0,) * len(strides))
    found = [none] * (axes - len(found)) + found
    sizes = tuple(size for size, _ in found)
    return Arrangement(sizes, tuple(zip(*(steps for _, steps in found), strict=True)), _chunk(sizes, chunk))


Axis = tuple[int, tuple[int, ...]]
"""The size of an axis, and the stride of each value along it."""


def merged(axes: list[Axis]) -> list[Axis]:
    """The same axes, with those made one that lie in memory as one.

    >>> merged([(2, (60, 60)), (3, (20, 20)), (20, (1, 1))])
    [(120, (1, 1))]
    """
    result: list[Axis] = []
    for size, steps in axes:
        if result and all(outer == size * step for outer, step in zip(result[-1][1], steps, strict=True)):
            result[-1] = (result[-1][0] * size, steps)
        else:
            result.append((size, steps))
    return result


def _rounded_up(axes: list[Axis], whole: int) -> list[Axis]:
    """The last axis up to whole vectors, if all values are contiguous along it (or repeat) and the output has room."""
    if not axes or axes[-1][1][0] != 1 or any(step not in (0, 1) for step in axes[-1][1]):
        return axes
    size = -(-axes[-1][0] // whole) * whole
    if len(axes) > 1 and abs(axes[-2][1][0]) < size:
        return axes
    return [*axes[:-1], (size, axes[-1][1])]


def _swap_for_longer_blocks(axes: list[Axis]) -> None:
    """Where the last two axes make a small block, the longest of the others takes the place of the last but one."""
    if len(axes) > 2 and axes[-1][0] * axes[-2][0] < SHORT:
        longest = max(range(len(axes) - 1), key=lambda axis: axes[axis][0])
        axes.insert(-1, axes.pop(longest))


def _chunk(sizes: tuple[int, ...], most: int) -> tuple[int, ...]:
    """How far a chunk reaches along each axis: along the last two as far as ``most`` numbers go."""
    last = max(sizes[-1], 1)
    pieces = -(-last // most)
    columns = -(-last // pieces // 16) * 16 if pieces > 1 else last
    rows = most // columns
    return (*(1 for _ in sizes[2:]), rows // 16 * 16 if rows > 16 else max(rows, 1), columns)
