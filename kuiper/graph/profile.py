"""``model.profile(x)``: how long each operator takes, as a table and as a Chrome trace."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kuiper.graph.boundary import shapes_of
from kuiper.graph.report import Column, Report

if TYPE_CHECKING:
    from os import PathLike

    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator

_BAR = 20  # characters of the longest bar


@dataclass(frozen=True)
class ProfileRow:
    """One operator: its median time over the runs, and what it returned; in the last run, its start and time."""

    type: str
    name: str
    microseconds: float
    output: str
    last_start: float
    last_microseconds: float


@dataclass(frozen=True)
class Profile:
    """Times per operator; ``print`` it, show it in a notebook, or open ``save_trace``'s file in ui.perfetto.dev."""

    name: str
    runs: int
    rows: list[ProfileRow]
    total_microseconds: float

    @classmethod
    def of(cls, graph: RuntimeGraph, inputs: tuple[Any, ...], runs: int = 10) -> Profile:
        """Run the graph once to warm up and then ``runs`` times with a clock at each operator."""
        seconds: dict[RuntimeOperator, list[float]] = defaultdict(list)
        last: dict[RuntimeOperator, tuple[float, str]] = {}

        def observe(op: RuntimeOperator, outputs: tuple[Any, ...], elapsed: float) -> None:
            seconds[op].append(elapsed)
            last[op] = (perf_counter() - elapsed, shapes_of(outputs))

        graph.forward(*inputs)
        totals = []
        for _ in range(max(runs, 1)):
            started = perf_counter()
            graph.forward(*inputs, observer=observe)
            totals.append(perf_counter() - started)
        rows = [
            ProfileRow(
                op.type,
                op.name,
                microseconds=statistics.median(times) * 1e6,
                output=last[op][1],
                last_start=(last[op][0] - started) * 1e6,
                last_microseconds=times[-1] * 1e6,
            )
            for op, times in seconds.items()
        ]
        return cls(graph.name, max(runs, 1), rows, statistics.median(totals) * 1e6)

    def report(self) -> Report:
        """The table in the order of execution; shares are of the sum over all operators."""
        total = sum(row.microseconds for row in self.rows) or 1.0
        longest = max((row.microseconds for row in self.rows), default=1.0) or 1.0
        rows = [
            (
                row.name,
                row.type,
                row.output,
                f"{row.microseconds:,.0f}",
                f"{row.microseconds / total:.1%}",
                "█" * round(_BAR * row.microseconds / longest),
            )
            for row in self.rows
        ]
        columns = [
            Column("operator"),
            Column("type"),
            Column("output"),
            Column("µs", numeric=True),
            Column("share", numeric=True),
            Column(""),
        ]
        title = f"{self.name}: median of {self.runs} runs"
        footer = f"one pass {self.total_microseconds / 1e3:,.3f} ms, of which operators {total / 1e3:,.3f} ms"
        return Report(title, columns, rows, footer)

    def chrome_trace(self) -> dict[str, Any]:
        """The last run in the Trace Event format that chrome://tracing and ui.perfetto.dev open."""
        events = [
            {
                "name": row.name,
                "cat": row.type,
                "ph": "X",
                "ts": round(row.last_start, 3),
                "dur": round(row.last_microseconds, 3),
                "pid": 0,
                "tid": 0,
                "args": {"type": row.type, "output": row.output},
            }
            for row in self.rows
        ]
        return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"model": self.name}}

    def save_trace(self, path: str | PathLike[str]) -> None:
        """Write ``chrome_trace`` to a .json file."""
        Path(path).write_text(json.dumps(self.chrome_trace()), encoding="utf-8")

    def __str__(self) -> str:
        return str(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
