"""The sizes that an export has baked into a reshape.

A static export writes the shapes that it saw: ``x.view(b * c // 2, 2, h * w)`` traced with one image becomes
``shape=(24,2,144)``. The file also declares the input as ``#7=(1,48,12,12)f32``, so it shows which sizes went where:

    declared    1  48   12  12            actual    4  48   12  12
                  |        |                          |        |
    shape       24   2    144             then      96   2    144

Between two bars the products above and below are equal, so what changed above, between two bars, changes below. Where
several sizes stand below, nobody can tell which of them changes: then an error is all there is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kuiper.graph.pnnx.ir import Dimension

Sizes = tuple[int, ...]


def with_actual_sizes(sizes: Sizes, declared: tuple[Dimension, ...] | None, shape: Sizes) -> Sizes | None:
    """``sizes`` as the export of an input of this ``shape`` would have had them; None if that cannot be told.

    Where sizes became several, the batch (the first axis) is in the first of them; where another size went, is unknown.
    A -1 takes what changed, unless a number beside it is a size that changed, too.

    >>> with_actual_sizes((24, 2, 144), declared=(1, 48, 12, 12), shape=(4, 48, 12, 12))
    (96, 2, 144)
    >>> with_actual_sizes((1, 48, 144), declared=(1, 48, 12, 12), shape=(4, 48, 20, 16))
    (4, 48, 320)
    >>> with_actual_sizes((1, 48, 3, 4, 12), declared=(1, 48, 12, 12), shape=(1, 48, 24, 12)) is None
    True
    """
    known = tuple(size for size in declared or () if isinstance(size, int) and size > 0)
    whole = _completed(sizes, math.prod(known))
    if len(known) != len(shape) or declared is None or len(declared) != len(shape) or whole is None:
        return None
    result = list(sizes)
    for above, below in _groups(known, whole):
        if known[above] == shape[above]:
            continue
        if -1 in sizes[below]:
            changed = {old for old, new in zip(known[above], shape[above], strict=True) if old != new}
            if changed - {1} & set(sizes[below]):
                return None
            continue
        before, after = math.prod(known[above]), math.prod(shape[above])
        entry = below.start
        only_batch = above.start == 0 and after * known[0] == before * shape[0]
        if (below.stop - entry > 1 and not only_batch) or whole[entry] * after % before:
            return None
        result[entry] = whole[entry] * after // before
    return tuple(result)


def is_known(declared: tuple[Dimension, ...] | None) -> bool:
    """Whether the file gives every size; where it leaves one open, the export has baked in none."""
    return declared is not None and all(isinstance(size, int) and size > 0 for size in declared)


def refuse_baked_end(end: int | None, declared: Dimension, size: int, where: str) -> None:
    """Refuse an axis of another size than declared that is cut just where it ended when the model was exported.

    ``x[:, :n]`` with n numbers then was all of them. Whether the model meant ``x.size(1)``, the size of something
    else or that very number, the file does not say.

    Raises
    ------
    ShapeError
        If it is so.
    """
    if isinstance(declared, int) and end == declared != size and end > 1:
        hint = "export the model with free sizes"
        raise ShapeError(where, f"an axis of {declared} numbers, which the file cuts at {end}", size, hint=hint)


def _completed(sizes: Sizes, count: int) -> Sizes | None:
    """``sizes`` with its -1 replaced so that there are ``count`` elements; None if that cannot be."""
    given = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) > 1 or given < 1 or count % given or (-1 not in sizes and given != count):
        return None
    return tuple(count // given if size == -1 else size for size in sizes)


def _groups(above: Sizes, below: Sizes) -> Iterator[tuple[slice, slice]]:
    """The shortest runs of axes, above and below, that have the same product; ones at the end belong to the last."""
    i = j = 0
    while i < len(above) and j < len(below):
        start, i, j = (i, j), i + 1, j + 1
        while math.prod(above[start[0] : i]) != math.prod(below[start[1] : j]):
            if math.prod(above[start[0] : i]) < math.prod(below[start[1] : j]):
                i += 1
            else:
                j += 1
        if math.prod(above[i:]) == 1:
            i, j = len(above), len(below)
        yield slice(start[0], i), slice(start[1], j)
