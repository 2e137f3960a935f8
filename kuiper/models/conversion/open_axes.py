"""Sizes for axes that a file leaves open, so that its model can be tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Dims = tuple[int | str, ...]

_SIDES = (64, 96, 224, 320)
"""Of pictures."""

_LENGTHS = (16, 23, 100, 16000)
"""Of everything else: words, frames, samples."""

ATTEMPTS = len(_SIDES)
"""How many choices there are."""

_COLOURS = (1, 3, 4)


def made_up(inputs: Sequence[Dims | None], attempt: int = 0, batch: int = 1) -> list[tuple[int, ...]]:
    """A shape for each input.

    Parameters
    ----------
    inputs : sizes, and names or "?" for those that are open; None is taken for a picture
    attempt : which choice, from 0 up to ``ATTEMPTS`` - 1
    batch : the size of open first axes, and of those that are called like one

    Returns
    -------
    Sizes. Where two are called the same, they are the same.

    Examples
    --------
    >>> made_up([("N", 3, "h", "w"), ("N", "time")])
    [(1, 3, 64, 64), (1, 16)]
    >>> made_up([("N", "h", "w", 3)], attempt=1, batch=2)
    [(2, 96, 96, 3)]
    """
    known: dict[str, int] = {}
    shapes = []
    for dims in (one if one is not None else ("?", "?", "?", "?") for one in inputs):
        shape = []
        for axis, dim in enumerate(dims):
            if isinstance(dim, str):
                guess = _size(dims, axis, attempt, batch)
                dim = guess if dim == "?" else known.setdefault(dim, guess)
            shape.append(dim)
        shapes.append(tuple(shape))
    return shapes


def _size(dims: Dims, axis: int, attempt: int, batch: int) -> int:
    """The size of one open axis."""
    if (axis == 0 and len(dims) > 1) or "batch" in str(dims[axis]).lower() or dims[axis] in ("N", "n", "B", "b"):
        return batch
    if len(dims) != 4:
        return _LENGTHS[attempt]
    last = dims[3] in _COLOURS
    if axis == 1 and not last:
        return 3  # colours, if it is open
    return _SIDES[attempt]
