"""Models made in code, on the engine and on the readable layers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kuiper.engine.engine import Engine
from kuiper.engine.runner import Runner
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry
from tests.arrays import assert_close as assert_close
from tests.arrays import numbers as numbers
from tests.graph.pass_graphs import file_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from kuiper.machine import Machine


def both(
    *lines: str, seed: int = 0, optimize: bool = True, machine: Machine | None = None
) -> tuple[RuntimeGraph, RuntimeGraph]:
    """The graph of these lines on the engine, planned for this machine or another, and on the layers as it stands."""
    graph = file_graph(*lines, seed=seed)
    fast, plain = RuntimeGraph(graph), RuntimeGraph(graph)
    fast.build(registry, optimize=optimize, engine=partial(Engine, machine=machine))
    plain.build(registry)
    return fast, plain


def plan_of(model: RuntimeGraph, inputs: Sequence[np.ndarray]) -> Runner:
    """The plan that the model's engine has made for these inputs; there must be one."""
    assert isinstance(model._execution.executor, Engine)
    plan = model._execution.executor.plan_for(inputs)
    assert isinstance(plan, Runner), plan
    return plan


def algorithms(plan: Runner) -> list[str]:
    """What runs, in order: the first word of each step's algorithm, or "layer"."""
    words = []
    for segment in plan.executable.segments:
        words += [step.algorithm.split()[0] for step in segment.steps] if hasattr(segment, "steps") else ["layer"]
    return words
