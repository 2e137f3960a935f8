"""What lies where on a plan's arena, and from which step to which: for those who want to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.engine.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kuiper.engine.planned_step import Lifetime
    from kuiper.engine.values import AnyValue, Buffer
    from kuiper.graph.runtime_operator import RuntimeOperator


class Placed(NamedTuple):
    """A part of the arena, in floats, needed from step ``first`` to step ``last``.

    ``operands`` are the indices of the operands whose values lie there; none of memory that an operator needs for
    itself. A ``constant`` is there from the start, and shares with nobody.
    """

    op: RuntimeOperator | None
    operands: tuple[int, ...]
    first: int
    last: int
    offset: int
    floats: int
    constant: bool


def arena_map(
    buffers: Iterable[Buffer], lifetimes: Mapping[Buffer, Lifetime], values: Mapping[int, AnyValue]
) -> list[Placed]:
    """Where each buffer lies that some step needs.

    Parameters
    ----------
    buffers : all buffers of a plan, placed
    lifetimes : from which step to which they are needed
    values : the value of each operand, by its index

    Returns
    -------
    An entry for each buffer that has a place: all but those of images that only exist in bands, within a chain.

    Examples
    --------
    >>> from kuiper.engine.planned_step import Lifetime
    >>> from kuiper.engine.values import Buffer
    >>> buffer = Buffer(64, offset=128)
    >>> arena_map([buffer, Buffer(64)], {buffer: Lifetime(0, 2)}, {})
    [Placed(op=None, operands=(), first=0, last=2, offset=128, floats=64, constant=False)]
    """
    operands: dict[Buffer, list[int]] = {}
    for index, value in values.items():
        if isinstance(value, Value):
            operands.setdefault(value.buffer, []).append(index)
    return [
        Placed(
            buffer.made_for,
            tuple(operands.get(buffer, ())),
            *lifetimes.get(buffer, (0, -1)),
            buffer.offset,
            buffer.floats,
            buffer.contents is not None,
        )
        for buffer in buffers
        if buffer in lifetimes or buffer.contents is not None
    ]
