"""The engine of one model: a plan for each set of input shapes, the last few of them kept."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.plan import LayerFailedError, Plan, PlanMismatchError
from kuiper.engine.plan_report import plan_report
from kuiper.engine.planner import CannotPlanError
from kuiper.errors import GraphStateError
from kuiper.threads import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.plan import Observer
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_graph import RuntimeGraph
    from kuiper.layers.layer import Array

_PLANS_KEPT = 8

Key = tuple[tuple[tuple[int, ...], str], ...]


class Engine:
    """Runs a built graph by plans. Threads may share it.

    A graph that cannot be planned for some shapes, or whose shapes turn out to depend on what is in the inputs, is left
    to the readable layers.
    """

    def __init__(self, graph: RuntimeGraph) -> None:
        self._graph = graph
        self._plans: OrderedDict[Key, Plan | None] = OrderedDict()
        self._packed: dict[Any, Any] = {}
        self._lock = Lock()

    def run(self, inputs: Sequence[Array], observer: Observer | None = None) -> tuple[Any, ...] | None:
        """The outputs, or None if the readable layers must do it."""
        plan = self.plan_for(inputs)
        if plan is None:
            return None
        try:
            return plan.run(inputs, get_num_threads(), observer)
        except LayerFailedError:
            return None
        except PlanMismatchError:
            with self._lock:
                self._plans[_key(inputs)] = None
            return None

    def report(self, inputs: Sequence[Array], runs: int) -> Report:
        """The plan for these inputs as a table, with the median time of each step over so many runs.

        Raises
        ------
        GraphStateError
            If the engine leaves these inputs to the layers.
        """
        plan = self.plan_for(inputs)
        if plan is None or self.run(inputs) is None:
            raise GraphStateError(self._graph.name, "a plan", "none: these inputs are left to the layers")
        return plan_report(self._graph.name, plan, inputs, runs)

    def plan_for(self, inputs: Sequence[Array]) -> Plan | None:
        """The plan for inputs of these shapes and types, kept or made anew; None if there can be none."""
        key = _key(inputs)
        with self._lock:
            if key in self._plans:
                self._plans.move_to_end(key)
                return self._plans[key]
            try:
                with np.errstate(all="ignore"):
                    plan = Plan(self._graph, inputs, self._packed)
            except CannotPlanError:
                plan = None
            self._plans[key] = plan
            if len(self._plans) > _PLANS_KEPT:
                self._plans.popitem(last=False)
            return plan


def _key(inputs: Sequence[Array]) -> Key:
    return tuple((array.shape, array.dtype.str) for array in inputs)
