"""``model.plan()``: every step with its algorithm, what it moves, what it should take and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.engine.planned_step import StepInfo
from kuiper.graph.report import Column, Report
from kuiper.machine import described
from kuiper.machine.stopwatch import typical
from kuiper.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.executable import Executable
    from kuiper.engine.planned_step import LayerStep
    from kuiper.engine.runner import Runner
    from kuiper.engine.step import Step
    from kuiper.graph.state import State
    from kuiper.layers.layer import Array

_COLUMNS = (
    Column("operator"),
    Column("type"),
    Column("algorithm"),
    Column("tasks", numeric=True),
    Column("MB", numeric=True),
    Column("µs", numeric=True),
    Column("GFLOP/s", numeric=True),
)


def plan_report(name: str, plan: Runner, inputs: Sequence[Array], runs: int, state: State | None = None) -> Report:
    """A plan as a table with a row for each step, in the order in which they run.

        operator, type   the operator that the step belongs to; it may have several steps, or none
        algorithm        what runs; bits depend on the system where that is a layer in Python (NumPy) or the C library
        tasks            independent pieces of the step, which threads share
        MB               10^6 bytes that the step reads and writes, each number once, and its weights
        µs               measured: the median over the runs (see ``typical``), until the last thread was done
        GFLOP/s          10^9 operations of the plain algorithm per second; Winograd needs fewer, and can pass the peak

    Parameters
    ----------
    name : the name of the model, for the title
    plan : what runs it
    inputs : an array for each input
    runs : how many runs are timed, at least one
    state : of a session, if the graph has state; it stays where it is

    Returns
    -------
    The table; below it the sum of all steps in milliseconds, the size of the arena in MB, and the machine that it is
    planned for.

    Examples
    --------
    >>> import kuiper, numpy as np
    >>> from kuiper.engine.compile import compile_graph
    >>> from kuiper.engine.runner import Runner
    >>> from kuiper.models import bundled
    >>> x = np.zeros((1, 3, 32, 32), np.float32)
    >>> plan = Runner(compile_graph(kuiper.load(bundled("cifar_resnet20")), [x], {}))
    >>> [column.heading for column in plan_report("cifar_resnet20", plan, [x], runs=1).columns]
    ['operator', 'type', 'algorithm', 'tasks', 'MB', 'µs', 'GFLOP/s']
    """
    threads = get_num_threads()
    steps = timed_steps(plan, inputs, runs, state)
    rows = [_row(step) for step in steps]
    shapes = ", ".join(str(array.shape) for array in inputs)
    title = f"{name} on {shapes}, {threads} thread{'s' if threads > 1 else ''}: {typical()[0]} of {max(1, runs)} runs"
    total, arena = sum(step.seconds for step in steps) * 1e3, plan.executable.arena_floats * 4 / 1e6
    sums = f"{total:,.3f} ms in {len(rows)} steps; one arena of {arena:,.1f} MB"
    return Report(title, _COLUMNS, rows, "\n".join([sums, *_machines_of(plan.executable)]))


def _machines_of(plan: Executable) -> list[str]:
    """What the plan is for, and if that is another machine, what its algorithms are chosen for."""
    name, *facts = described(plan.machine)
    lines = [f"planned for {name}", *facts]
    if plan.choices != plan.machine:
        name, *facts = described(plan.choices)
        lines += [f"algorithms chosen for {name}", *facts]
    return lines


class TimedStep(NamedTuple):
    """A step of a plan, the compiled step that runs it (None: its layer does), and its median time."""

    info: StepInfo | LayerStep
    made: Step | None
    seconds: float


def timed_steps(plan: Runner, inputs: Sequence[Array], runs: int, state: State | None = None) -> list[TimedStep]:
    """The steps of a plan in their order, each with the median of its times over the runs; ``plan_report``'s source."""
    steps: list[StepInfo | LayerStep] = []
    times: list[list[float]] = []
    for _ in range(max(1, runs)):
        observed: list[tuple[StepInfo | LayerStep, float]] = []
        plan.run(
            inputs,
            get_num_threads(),
            lambda step, seconds, seen=observed: seen.append((step, seconds)),  # type: ignore[misc]
            state,
        )
        steps = [step for step, _ in observed]
        times.append([seconds for _, seconds in observed])
    _, average = typical()
    averages = [average(column) for column in zip(*times, strict=True)]
    made = iter([step for segment in plan.executable.compiled() for step in segment.program.steps])
    return [
        TimedStep(step, next(made) if isinstance(step, StepInfo) else None, seconds)
        for step, seconds in zip(steps, averages, strict=True)
    ]


def _row(step: TimedStep) -> tuple[str, ...]:
    info, seconds = step.info, step.seconds
    microseconds = f"{seconds * 1e6:,.1f}"
    if not isinstance(info, StepInfo) or step.made is None:
        return info.op.name, info.op.type, info.algorithm, "-", "-", microseconds, "-"
    speed = f"{info.flops / seconds * 1e-9:,.0f}" if info.flops and seconds else "-"
    megabytes = f"{info.bytes * 1e-6:.2f}"
    algorithm = f"{info.algorithm}, by the C library" if info.in_library else info.algorithm
    return info.op.name, info.op.type, algorithm, str(step.made.tasks), megabytes, microseconds, speed
