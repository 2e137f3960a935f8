"""Operators that take a tensor apart: cutting along an axis, and handing the pieces to the outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import ShapeError
from kuiper.layers.axes import along
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Array

UNPACKERS = ("prim::ListUnpack", "prim::TupleUnpack")


_PIECE = 256
"""Bytes that a piece takes beside its numbers: it is an object, and so are its bounds."""


def check_count(count: int, where: str) -> None:
    """Raise ShapeError if this many pieces take more memory than a tensor may."""
    check_size((count,), _PIECE, f"{where}: the list of pieces")


def cut(x: Array, dim: int, bounds: Iterable[tuple[int | None, int | None]]) -> tuple[Array, ...]:
    """Views of ``x`` between these bounds on axis ``dim``, counted from the front.

    >>> import numpy as np
    >>> cut(np.array([1, 2, 3]), 0, [(0, 1), (1, 3)])
    (array([1]), array([2, 3]))
    """
    return tuple(x[along(dim, slice(start, end))] for start, end in bounds)


def for_outputs(op: RuntimeOperator, pieces: tuple[Array, ...]) -> Array | tuple[Array, ...]:
    """The pieces as the operator's outputs: one each; a single output that is unpacked later gets them all.

    Raises
    ------
    ShapeError
        If the file gives the operator another number of outputs: it was exported for an input of another size.
    """
    if len(op.outputs) == 1 and any(consumer.type in UNPACKERS for consumer in op.outputs[0].consumers):
        return pieces
    if len(op.outputs) != len(pieces):
        raise ShapeError(op.where, f"{len(op.outputs)} pieces, one for each output", len(pieces))
    return pieces[0] if len(pieces) == 1 else pieces
