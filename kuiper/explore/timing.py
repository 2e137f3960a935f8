"""Runs on a line: when each step began and ended, by thread; of the engine and of the layers."""

from __future__ import annotations

import time
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from kuiper.engine.clock import seconds as seconds_now
from kuiper.explore.arrays import number
from kuiper.language import _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kuiper.engine.runner import Runner, Span
    from kuiper.explore.arrays import Table
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.state import State
    from kuiper.layers.layer import Array

RUNS, SECONDS = 7, 0.6
"""How often something is run, and after how many seconds it is enough; the page gets the run of median time."""


def engine_run(plan: Runner, inputs: Sequence[Array], threads: int, state: State | None) -> Table:
    """A run of a plan on this many threads, with the spans of each thread. Times are in microseconds.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.engine.compile import compile_graph
    >>> from kuiper.engine.runner import Runner
    >>> from kuiper.models import bundled
    >>> x = np.zeros((1, 3, 32, 32), np.float32)
    >>> run = engine_run(Runner(compile_graph(kuiper.load(bundled("cifar_resnet20")), [x], {})), [x], 1, None)
    >>> run["name"], run["spans"][0]["step"], run["spans"][0]["thread"]
    ('engine, 1 thread', 0, 0)
    """

    def once() -> tuple[float, tuple[float, list[Span]]]:
        spans: list[Span] = []
        started = seconds_now()
        plan.run(inputs, threads, state=state, spans=spans)
        return seconds_now() - started, (started, spans)

    total, (started, spans) = _median_run(once)
    places = {id(step): index for index, step in enumerate(plan_cards(plan))}
    name = _("engine, {n} threads") if threads > 1 else _("engine, {n} thread")
    table = _table(name.format(n=threads), "engine", threads, total)
    table["spans"] = [
        {
            "step": places[id(span.step)],
            "thread": span.thread,
            "start": number((span.start - started) * 1e6),
            "time": number(span.seconds * 1e6),
        }
        for span in spans
    ]
    return table


def plan_cards(plan: Runner) -> list[Any]:
    """The cards and layers of a plan in the order of its steps."""
    return [card for segment in plan.executable.segments for card in getattr(segment, "steps", [segment])]


def layers_run(
    graph: RuntimeGraph,
    inputs: Sequence[Array],
    name: str,
    kind: str,
    keys: Mapping[str, str],
    seen: Sequence[tuple[str, float]] = (),
) -> Table:
    """A run of a graph by its layers, one after the other.

    Parameters
    ----------
    graph : a graph that has been built
    inputs : an array for each input
    name : what the page calls the run
    kind : "layers", "file" or "mine"
    keys : the page's key of each operator, by its name
    seen : the operators of a run that there has been, with their seconds; if it was slow, it is the one

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> run = layers_run(model, [np.zeros((1, 3, 32, 32), np.float32)], "layers", "layers", {})
    >>> run["spans"][0]["operator"], run["spans"][0]["start"] >= 0
    ('convbn2d_0+relu', True)
    """

    def once() -> tuple[float, list[tuple[str, float, float]]]:
        spans: list[tuple[str, float, float]] = []
        started = seconds_now()

        def observe(op: Any, outputs: tuple[Any, ...], seconds: float) -> None:
            spans.append((op.name, seconds_now() - started - seconds, seconds))

        graph.forward(*inputs, observer=observe)
        return seconds_now() - started, spans

    total = sum(seconds for _, seconds in seen)
    if total > SECONDS:
        starts = accumulate((seconds for _, seconds in seen), initial=0.0)
        spans = [(op, start, seconds) for (op, seconds), start in zip(seen, starts, strict=False)]
    else:
        total, spans = _median_run(once)
    table = _table(name, kind, 1, total)
    table["spans"] = [
        {"operator": keys.get(op, op), "thread": 0, "start": number(start * 1e6), "time": number(seconds * 1e6)}
        for op, start, seconds in spans
    ]
    return table


def _median_run(once: Callable[[], tuple[float, Any]]) -> tuple[float, Any]:
    """The run whose total is the median, of as many as there is time for; anyone who asks has run it before."""
    until = time.monotonic() + SECONDS
    runs = [once()]
    while len(runs) < RUNS and time.monotonic() < until:
        runs.append(once())
    runs.sort(key=lambda run: run[0])
    return runs[len(runs) // 2]


def _table(name: str, kind: str, threads: int, total: float) -> Table:
    return {"name": name, "kind": kind, "threads": threads, "total": number(total * 1e6), "spans": []}
