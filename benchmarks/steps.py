"""How long each operator takes in the engine, read from the table that ``model.plan()`` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph
    from kuiper.graph.report import Report

ENDS = ("import", "export")
"""Algorithms that only bring an array into the engine's layout or out of it."""


@dataclass(frozen=True)
class Step:
    """What the engine runs for one operator, and the median of its time."""

    algorithm: str
    microseconds: float


def steps_of(model: RuntimeGraph, runs: int) -> dict[str, Step]:
    """The steps of one pass over made-up inputs, by the operator's name.

    The engine may take several for one operator: their times are added, the last one's algorithm is named.
    """
    found: dict[str, Step] = {}
    for name, algorithm, text in cells(model.plan(runs=runs), "operator", "algorithm", "µs"):
        if algorithm not in ENDS:
            before = found[name].microseconds if name in found else 0.0
            found[name] = Step(algorithm, before + float(text.replace(",", "")))
    return found


def cells(table: Report, *headings: str) -> list[tuple[str, ...]]:
    """The columns of these headings, row by row.

    >>> from kuiper.graph.report import Column, Report
    >>> cells(Report("", [Column("a"), Column("b")], [("1", "2"), ("3", "4")], ""), "b", "a")
    [('2', '1'), ('4', '3')]
    """
    places = [[column.heading for column in table.columns].index(heading) for heading in headings]
    return [tuple(row[place] for place in places) for row in table.rows]
