"""``model.plan()``: every step with its algorithm, what it moves, what it should take and what it takes."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from kuiper.engine.clock import cycles_per_nanosecond
from kuiper.engine.planned_step import StepCard
from kuiper.graph.report import Column, Report
from kuiper.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.plan import Plan
    from kuiper.engine.planned_step import LayerStep
    from kuiper.graph.state import State
    from kuiper.layers.layer import Array

_COLUMNS = (
    Column("operator"),
    Column("type"),
    Column("algorithm"),
    Column("tasks", numeric=True),
    Column("MB", numeric=True),
    Column("expected µs", numeric=True),
    Column("µs", numeric=True),
    Column("GFLOP/s", numeric=True),
)


def plan_report(name: str, plan: Plan, inputs: Sequence[Array], runs: int, state: State | None = None) -> Report:
    """A plan as a table with a row for each step, in the order in which they run.

        operator, type   the operator that the step belongs to; it may have several steps, or none
        algorithm        what runs
        tasks            independent pieces of the step, which threads share
        MB               10^6 bytes that the step reads and writes, each number once, and its weights
        expected µs      by the planner's cost model: one thread with the machine to itself, at the clock of this moment
        µs               measured: the median over the runs, until the last thread was done
        GFLOP/s          10^9 operations of the plain algorithm per second; Winograd needs fewer, and can pass the peak

    Parameters
    ----------
    name : the name of the model, for the title
    plan : the plan
    inputs : an array for each input
    runs : how many runs are timed, at least one
    state : of a session, if the graph has state; it stays where it is

    Returns
    -------
    The table; below it the sum of all steps in milliseconds and the size of the arena in MB.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.engine.plan import Plan
    >>> from kuiper.models import bundled
    >>> x = np.zeros((1, 3, 32, 32), np.float32)
    >>> plan = Plan(kuiper.load(bundled("cifar_resnet20")), [x], {})
    >>> [column.heading for column in plan_report("cifar_resnet20", plan, [x], runs=1).columns]
    ['operator', 'type', 'algorithm', 'tasks', 'MB', 'expected µs', 'µs', 'GFLOP/s']
    """
    threads, gigahertz = get_num_threads(), cycles_per_nanosecond()
    steps: list[StepCard | LayerStep] = []
    times: list[list[float]] = []
    for _ in range(max(1, runs)):
        observed: list[tuple[StepCard | LayerStep, float]] = []
        plan.run(inputs, threads, lambda step, seconds, seen=observed: seen.append((step, seconds)), state)  # type: ignore[misc]
        steps = [step for step, _ in observed]
        times.append([seconds for _, seconds in observed])
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    tasks = iter([made.tasks for stretch in plan.compiled() for made in stretch.program.steps])
    rows = [
        _row(step, seconds, next(tasks) if isinstance(step, StepCard) else None, gigahertz)
        for step, seconds in zip(steps, medians, strict=True)
    ]
    shapes = ", ".join(str(array.shape) for array in inputs)
    title = f"{name} on {shapes}, {threads} thread{'s' if threads > 1 else ''}: median of {max(1, runs)} runs"
    total, arena = sum(medians) * 1e3, plan.arena_floats * 4 / 1e6
    footer = f"{total:,.3f} ms in {len(rows)} steps; one arena of {arena:,.1f} MB; expected at {gigahertz:.1f} GHz"
    return Report(title, _COLUMNS, rows, footer)


def _row(step: StepCard | LayerStep, seconds: float, tasks: int | None, gigahertz: float) -> tuple[str, ...]:
    microseconds = f"{seconds * 1e6:,.1f}"
    if not isinstance(step, StepCard):
        return step.op.name, step.op.type, "the layer, in Python", "-", "-", "-", microseconds, "-"
    speed = f"{step.flops / seconds * 1e-9:,.0f}" if step.flops and seconds else "-"
    expected = f"{step.expected / gigahertz * 1e-3:,.1f}" if step.expected else "-"
    megabytes = f"{step.bytes * 1e-6:.2f}"
    return step.op.name, step.op.type, step.algorithm, str(tasks), megabytes, expected, microseconds, speed
