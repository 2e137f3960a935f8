"""The steps of a plan: what runs, why, what was weighed and not taken, and how long it should take and takes."""

from __future__ import annotations

import itertools
from functools import reduce
from typing import TYPE_CHECKING

from kuiper.engine.engine import Engine
from kuiper.engine.plan_report import timed_steps
from kuiper.engine.planned_step import LayerStep, StepInfo, StepKind
from kuiper.explore.arrays import number
from kuiper.explore.operators import source_of
from kuiper.graph.fallback import Refusal
from kuiper.language import _, noop, translate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.engine.plan_report import TimedStep
    from kuiper.engine.runner import Runner
    from kuiper.explore.arrays import Table
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import State
    from kuiper.layers.layer import Array

_RUNS = 5

_WHY = {
    StepKind.IMPORT: noop("Brings an input from outside onto the arena, in the order in memory that the kernels read."),
    StepKind.EXPORT: noop("Copies an output from the arena to memory of the caller's own."),
    StepKind.CHAIN: noop(
        "The images between these operators would fill the cache: a few rows go through all at a time."
    ),
    StepKind.COMPUTE: noop("The engine has one kernel for this operator with these settings."),
}
_IN_PYTHON = noop(
    "The engine has no kernel for this operator with these settings: its layer runs on views of the arena."
)
_BEHIND = noop("Sizes behind this operator depend on numbers: all that follows is a graph of its own.")


def find_plan(graph: RuntimeGraph, inputs: Sequence[Array], state: State | None) -> tuple[Runner | None, str]:
    """The plan that runs these inputs, or None and the reason why there is none."""
    executor = graph.execution.executor
    if not isinstance(executor, Engine):
        return None, _("The layers run this model: it was loaded without an engine (optimize=False).")
    answer = executor.run(inputs, state=state)
    plan = executor.plan_for(inputs, state.max_length if state else 0) if isinstance(answer, tuple) else answer
    if isinstance(plan, Refusal):
        graph.execution.fallbacks.tell(plan)  # the layers have run these inputs by now
        return None, _("The engine leaves these inputs to the layers. {reason}").format(reason=plan.reason)
    return plan, ""


def plan_table(
    plan: Runner, inputs: Sequence[Array], state: State | None, operators: Mapping[str, str], gigahertz: float
) -> Table:
    """The page's ``plan``: the numbers of ``model.plan()``, and what its table has no room for.

    Parameters
    ----------
    plan : what runs
    inputs : an array for each input
    state : of a session, if the graph has state
    operators : the page's key of each operator, by its name
    gigahertz : the clock that expected times are for
    """
    timed = timed_steps(plan, inputs, _RUNS, state)
    steps = [_step(step, operators, gigahertz) for step in timed]
    return {"steps": steps, "refusal": None}


def _step(step: TimedStep, operators: Mapping[str, str], gigahertz: float) -> Table:
    card = step.info
    table: Table = {
        "operator": operators.get(card.op.name, card.op.name),
        "algorithm": card.algorithm,
        "kind": StepKind.COMPUTE.value,
        "tasks": None,
        "bytes": None,
        "flops": None,
        "expected": None,
        "measured": number(step.seconds * 1e6),
        "rejected": [],
        "why": translate(_BEHIND if isinstance(card, LayerStep) and card.rest else _IN_PYTHON),
        "source": source_of(type(card.op.layer)) if card.op.layer is not None else "",
    }
    if not isinstance(card, StepInfo) or step.made is None:
        return table
    return table | {
        "kind": card.kind.value,
        "tasks": step.made.tasks,
        "bytes": card.bytes,
        "flops": card.flops,
        "expected": number(card.expected / gigahertz * 1e-3) if card.expected else None,
        "rejected": [
            {"algorithm": name, "expected": number(cycles / gigahertz * 1e-3)} for name, cycles in card.rejected
        ],
        "why": why(card),
        "source": source_of(type(step.made)),
    }


def step_edges(
    order: Sequence[RuntimeOperator],
    steps: Sequence[Table],
    operators: Mapping[str, str],
    carried: Mapping[int, tuple[str | None, str]],
) -> list[tuple[int, int, tuple[str | None, str]]]:
    """From step to step, past operators that have none: views, and those in the middle of a chain.

    Parameters
    ----------
    order : the operators in topological order
    steps : the plan's steps as the page has them
    operators : the page's key of each operator, by its name
    carried : for each operand, by its index, its value's key and its shape in words

    Returns
    -------
    Places of source and target in the plan, and what goes from one to the other; (None, "") within an operator.
    """
    own: dict[str, list[int]] = {}
    for index, step in enumerate(steps):
        own.setdefault(step["operator"], []).append(index)
    ends: dict[int, list[int]] = {}
    edges: dict[tuple[int, int], tuple[str | None, str]] = {}
    for op in order:
        numbers = own.get(operators.get(op.name, ""), [])
        sources = [(end, operand.index) for operand in op.inputs for end in ends.get(operand.index, [])]
        if numbers:
            main = next((i for i in numbers if steps[i]["kind"] != StepKind.IMPORT.value), numbers[-1])
            for source, operand in sources:
                if source < main:
                    edges.setdefault((source, main), carried.get(operand, (None, "")))
            for pair in itertools.pairwise(numbers):
                edges.setdefault(pair, (None, ""))
        behind = numbers[-1:] or list(dict.fromkeys(source for source, _ in sources))
        ends |= {operand.index: behind for operand in op.outputs}
    return [(source, target, edges[source, target]) for source, target in sorted(edges)]


def why(card: StepInfo) -> str:
    """Why the planner has chosen a step's algorithm, in a sentence.

    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> op = RuntimeOperator("nn.Conv2d", "conv")
    >>> why(StepInfo(op, "direct 3x3, panels of 32", 1, 1, 1000.0, (("Winograd F(2,3)", 1500.0),)))
    'The cost model expects 1,000 cycles on one thread; Winograd F(2,3) would take 1,500.'
    """
    if card.rejected:
        would = [
            _("{name} would take {cycles:,.0f}").format(name=name, cycles=cycles) for name, cycles in card.rejected
        ]
        others = reduce(lambda first, second: _("{first} and {second}").format(first=first, second=second), would)
        words = _("The cost model expects {cycles:,.0f} cycles on one thread; {others}.")
        return words.format(cycles=card.expected, others=others)
    return translate(_WHY[card.kind])
