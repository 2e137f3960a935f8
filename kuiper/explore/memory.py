"""The arena over the steps of a plan: a rectangle for each tensor, its place in memory upwards, its time to the right.

arena       bytes of the whole plan
unshared    bytes if each tensor had memory of its own
bound       bytes of the largest sum of tensors that are needed in one step: no arena can be smaller
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.engine.arena_map import Placed
    from kuiper.explore.arrays import Table

_FLOAT = 4  # bytes


def memory_table(
    placed: Sequence[Placed], steps: int, arena_floats: int, values: Mapping[int, str], operators: Mapping[str, str]
) -> Table:
    """The page's entry of an arena.

    Parameters
    ----------
    placed : what lies on the arena
    steps : how many steps the plan has
    arena_floats : the size of the arena
    values : the page's key of each operand's value, by the operand's index
    operators : the page's key of each operator, by its name

    Examples
    --------
    >>> from kuiper.engine.arena_map import Placed
    >>> placed = [Placed(None, (7,), 0, 1, 0, 64, False), Placed(None, (), 1, 2, 64, 32, False)]
    >>> table = memory_table(placed, 3, 96, {7: "x"}, {})
    >>> table["arena"], table["unshared"], table["bound"], table["peak_step"], table["rectangles"][0]["value"]
    (384, 384, 384, 1, 'x')
    """
    alive = [0] * max(steps, 1)
    rectangles = []
    for each in placed:
        first, last = (0, max(steps - 1, 0)) if each.constant else (each.first, each.last)
        for step in range(first, last + 1):
            alive[step] += each.floats
        rectangles.append(
            {
                "value": next((values[index] for index in each.operands if index in values), None),
                "operator": operators.get(each.op.name) if each.op else None,
                "constant": each.constant,
                "first": first,
                "last": last,
                "offset": each.offset * _FLOAT,
                "bytes": each.floats * _FLOAT,
            }
        )
    return {
        "arena": arena_floats * _FLOAT,
        "unshared": sum(each.floats for each in placed) * _FLOAT,
        "bound": max(alive) * _FLOAT,
        "peak_step": alive.index(max(alive)),
        "steps": list(range(steps)),
        "alive": [floats * _FLOAT for floats in alive],
        "rectangles": rectangles,
    }
