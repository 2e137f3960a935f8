"""``model.profile(x)``: how long each operator takes, as a table and as a Chrome trace."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kuiper.graph.boundary import shapes_of
from kuiper.graph.report import Column, Report
from kuiper.graph.schedule import depth_first_order

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from kuiper.graph.protocols import OperatorTime, RunnableGraph
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
    def of(cls, graph: RunnableGraph, inputs: tuple[Any, ...], runs: int = 10) -> Profile:
        """Run the graph with a clock at each operator, after a run to warm up.

        One more run, by the layers, tells the shapes. On an engine an operator's time is the sum of its steps', which
        is 0 for one that needs none: a view, or a concatenation whose parts were written to their places.

        Parameters
        ----------
        graph : a graph that has been built
        inputs : one argument for each input
        runs : how many runs are timed; each time is the median

        Returns
        -------
        A table of times in microseconds.

        Raises
        ------
        KuiperError
            If an operator fails on these inputs.

        Examples
        --------
        >>> import kuiper, numpy as np
        >>> from kuiper.models import bundled
        >>> model = kuiper.load(bundled("cifar_resnet20"))
        >>> profile = Profile.of(model, (np.zeros((1, 3, 32, 32), np.float32),), runs=2)
        >>> profile.runs, profile.rows[-2].type
        (2, 'nn.Linear')
        """
        outputs = dict.fromkeys(graph.output_operators, "")
        graph.forward(*inputs, observer=lambda op, results, _: outputs.update({op: shapes_of(results)}))
        graph.forward(*inputs)
        totals, spans = [], []
        for _ in range(max(runs, 1)):
            started = perf_counter()
            times = graph.time_operators(*inputs)
            totals.append(perf_counter() - started)
            spans.append(_spans(times, started))
        rows = []
        end = 0.0
        for op in depth_first_order(graph.operators):
            if op in spans[-1] or op.layer is not None:
                start, last = spans[-1].get(op, (end, 0.0))
                end = start + last
                median = statistics.median(span[op][1] if op in span else 0.0 for span in spans)
                rows.append(ProfileRow(op.type, op.name, median, outputs[op], start, last))
        rows.sort(key=lambda row: row.last_start)
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
                f"{row.microseconds:,.1f}",
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


def _spans(times: Sequence[OperatorTime], started: float) -> dict[RuntimeOperator, tuple[float, float]]:
    """When each operator began, after ``started``, and how long all of its steps took, in microseconds.

    A step ended when its time was noted, and before the next one began.
    """
    spans: dict[RuntimeOperator, tuple[float, float]] = {}
    begun = float("inf")
    for op, seconds, clock in reversed(times):
        begun = min(clock, begun) - seconds
        spans[op] = (begun - started) * 1e6, spans.get(op, (0.0, 0.0))[1] + seconds * 1e6
    return spans
