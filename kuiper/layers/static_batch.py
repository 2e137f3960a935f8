"""The batch size that an export has baked into a shape.

A static export writes the shapes that it saw: ``x.view(x.size(0), 255, -1)`` traced with one image becomes
``shape=(1,255,400)``, although the model means "as many as came in". The file also declares the input as
``#7=(1,255,20,20)f32``, so an equal first entry is the batch, and the batch that really comes takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kuiper.graph.pnnx.ir import Dimension
    from kuiper.graph.runtime_operator import RuntimeOperator


def declared_shape(op: RuntimeOperator) -> tuple[Dimension, ...] | None:
    """The shape that the file declares for the operator's first input; None if it gives none."""
    return op.inputs[0].shape if op.inputs else None


def declared_batch(op: RuntimeOperator) -> int | None:
    """The first size that the file declares for the operator's first input; None if it leaves it open."""
    shape = declared_shape(op)
    return shape[0] if shape and isinstance(shape[0], int) else None


def with_actual_batch(sizes: tuple[int, ...], declared: int | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """``sizes`` with the baked batch, if its first entry is that, replaced by the first size of the actual ``shape``.

    >>> with_actual_batch((1, 255, 400), declared=1, shape=(3, 255, 20, 20))
    (3, 255, 400)
    >>> with_actual_batch((5, 51, 400), declared=1, shape=(3, 255, 20, 20))
    (5, 51, 400)
    """
    if shape and sizes and declared is not None and sizes[0] == declared:
        return (shape[0], *sizes[1:])
    return sizes
