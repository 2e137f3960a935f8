"""What lies where on a plan's arena, and from which step to which: for those who want to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.engine.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kuiper.engine.values import AnyValue, Storage
    from kuiper.graph.runtime_operator import RuntimeOperator


class Placed(NamedTuple):
    """A stretch of the arena, in floats, needed from step ``first`` to step ``last``.

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


def arena_map(storages: Iterable[Storage], values: Mapping[int, AnyValue]) -> list[Placed]:
    """Where each storage lies that some step needs.

    Parameters
    ----------
    storages : all storages of a plan, placed
    values : the value of each operand, by its index

    Returns
    -------
    An entry for each storage that has a place: all but those of images that only exist in strips, within a chain.

    Examples
    --------
    >>> from kuiper.engine.values import Storage
    >>> storage = Storage(64, first=0, last=2, offset=128)
    >>> arena_map([storage, Storage(64)], {})
    [Placed(op=None, operands=(), first=0, last=2, offset=128, floats=64, constant=False)]
    """
    operands: dict[Storage, list[int]] = {}
    for index, value in values.items():
        if isinstance(value, Value):
            operands.setdefault(value.storage, []).append(index)
    return [
        Placed(
            storage.made_for,
            tuple(operands.get(storage, ())),
            storage.first or 0,
            storage.last,
            storage.offset,
            storage.floats,
            storage.contents is not None,
        )
        for storage in storages
        if storage.first is not None or storage.contents is not None
    ]
