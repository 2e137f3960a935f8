"""Axis numbers as torch counts them: from the front starting at 0, or from the back starting at -1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterable


CHANNELS = (1, -3)
"""The axis of the channels of an image (n, c, h, w), as a file may count it."""


def axis(dim: int, rank: int, where: str) -> int:
    """``dim`` counted from the front; a scalar counts as having one axis.

    >>> axis(-1, 3, "doc")
    2

    Raises
    ------
    ShapeError
        If an array of that rank has no such axis.
    """
    rank = max(rank, 1)
    if not -rank <= dim < rank:
        raise ShapeError(where, f"dim within {-rank}..{rank - 1}", dim)
    return dim % rank


def along(dim: int, item: int | slice) -> tuple[Any, ...]:
    """The index that applies ``item`` to axis ``dim``, counted from the front, and keeps the others; it makes a view.

    >>> along(1, slice(2, 3))
    (slice(None, None, None), slice(2, 3, None), Ellipsis)
    """
    return (*(slice(None),) * dim, item, ...)


def axes(dims: Iterable[int], rank: int, where: str) -> tuple[int, ...]:
    """Several ``dims`` counted from the front, in the order given.

    >>> axes((-1, 0), 3, "doc")
    (2, 0)

    Raises
    ------
    ShapeError
        If an array of that rank lacks one of them, or one comes twice.
    """
    dims = tuple(dims)
    counted = tuple(axis(dim, rank, where) for dim in dims)
    if len(set(counted)) != len(counted):
        raise ShapeError(where, "each dim once", dims)
    return counted
