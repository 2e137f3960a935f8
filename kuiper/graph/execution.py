"""How a built graph runs: by its engine if it has one, else one layer after the other.

run(inputs)    arrays, checked -> engine, or layers in order -> what is returned, in memory of the caller's own
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import GraphStateError, ShapeError
from kuiper.graph.boundary import as_input, owned_outputs
from kuiper.graph.fallback import Fallbacks, Refusal
from kuiper.graph.sample_inputs import sample_inputs
from kuiper.graph.state import State
from kuiper.graph.step import OperatorTime, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.graph.protocols import ExecutorProtocol, PlanStepProtocol, WiredGraph
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.step import Observer


class Execution:
    """What does not change from one run of a graph to the next; ``executor`` is its engine, if it has one.

    ``fallbacks`` are the mistakes because of which the graph takes a slower way, ``known`` is one that was told before.
    """

    def __init__(self, graph: WiredGraph, executor: ExecutorProtocol | None, known: str = "") -> None:
        self._graph = graph
        self._inputs = graph.input_operators
        self._returned = [operand for op in graph.output_operators for operand in op.inputs]
        self._steps = list(Step.of(graph.order, self._returned))
        self.has_state = any(step.stateful for step in self._steps)
        self.executor = executor
        self.fallbacks = Fallbacks(graph.name, known)

    def checked(self, inputs: tuple[Any, ...]) -> list[np.ndarray]:
        """What the user gave as arrays, one for each pnnx.Input.

        Raises
        ------
        ShapeError, DataTypeError
            If there are not as many, or one of them is not what the file declares.
        """
        if len(inputs) != len(self._inputs):
            names = ", ".join(f"'{op.name}'" for op in self._inputs)
            raise ShapeError(self._graph.name, f"{len(self._inputs)} inputs ({names})", len(inputs))
        return [as_input(value, op.outputs[0], op.where) for op, value in zip(self._inputs, inputs, strict=True)]

    def run(
        self, inputs: tuple[Any, ...], observer: Observer | None, state: State | None = None, outputs: bool = True
    ) -> tuple[Any, ...]:
        """What the graph returns; an observer wants to see every output, so then the layers do the work.

        A graph with state that is given none begins a text that ends with this call. Without ``outputs``, only the
        state is brought up to date, and the answer is empty.
        """
        return self._run(self.checked(inputs), observer, state, outputs)

    def run_as_body(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs of a graph that is the body of an operator, which knows what types it gives.

        They may be inputs as they are, or views of them: nobody writes to what one turn of a loop gives to the next,
        and the graph around the operator sees to it that what it returns is the caller's alone.
        """
        return self._results([np.asarray(value) for value in inputs], None)

    def _run(
        self, arrays: list[np.ndarray], observer: Observer | None, state: State | None = None, outputs: bool = True
    ) -> tuple[Any, ...]:
        """What the graph returns for these arrays, in memory of the caller's own."""
        results = self._results(arrays, observer, state, outputs)
        if not outputs:
            return ()
        layers = [operand.producer.layer if operand.producer else None for operand in self._returned]
        return owned_outputs(results, layers, arrays)

    def _results(
        self, arrays: list[np.ndarray], observer: Observer | None, state: State | None = None, outputs: bool = True
    ) -> tuple[Any, ...]:
        """What the engine, or the layers, make of these arrays."""
        state = state or self.fresh_state(arrays)
        answer = self._run_engine(arrays, state, outputs) if observer is None else None
        results = answer if isinstance(answer, tuple) else self._run_layers(arrays, observer, state)
        if isinstance(answer, Refusal):
            self.fallbacks.tell(answer)
        return results

    def _run_engine(
        self,
        arrays: list[np.ndarray],
        state: State | None,
        outputs: bool,
        observer: Callable[[PlanStepProtocol, float], None] | None = None,
    ) -> tuple[Any, ...] | Refusal | None:
        """The engine's answer, or why it has none; None if there is no engine."""
        if self.executor is None:
            return None
        if state is None:
            return self.executor.run(arrays, observer=observer)
        return self.executor.run(arrays, observer=observer, state=state, outputs=outputs)

    def fresh_state(self, arrays: list[np.ndarray]) -> State | None:
        """The state of a text that begins and ends with one call; None if the graph remembers nothing.

        Nothing in a call is longer than the longest axis of an input.
        """
        return State(max((max(array.shape) for array in arrays if array.ndim), default=1)) if self.has_state else None

    def times(self, inputs: tuple[Any, ...]) -> list[OperatorTime]:
        """The times of one run: of each step of the engine that does something, or of each layer."""
        arrays = self.checked(inputs)
        times: list[OperatorTime] = []

        def note(op: RuntimeOperator, seconds: float) -> None:
            times.append(OperatorTime(op, seconds, perf_counter()))

        state = self.fresh_state(arrays)
        answer = self._run_engine(arrays, state, True, lambda step, seconds: note(step.op, seconds))
        if isinstance(answer, tuple):
            return times
        times.clear()
        self._run_layers(arrays, lambda op, outputs, seconds: note(op, seconds), self.fresh_state(arrays))
        if answer is not None:
            self.fallbacks.tell(answer)
        return times

    def plan(self, inputs: tuple[Any, ...], runs: int) -> Report:
        """What the engine reports of its plan for these inputs, or for made-up ones; below it, the graph's fallbacks.

        Raises
        ------
        GraphStateError
            If there is no engine, or none that takes these inputs.
        """
        if self.executor is None:
            hint = "kuiper.load(..., optimize=True) has one"
            raise GraphStateError(self._graph.name, "an engine", "none", hint=hint)
        arrays = self.checked(inputs or sample_inputs(self._graph))
        self.run(tuple(arrays), None)  # should a layer refuse the inputs, it says why
        report = self.executor.report(arrays, runs=runs, state=self.fresh_state(arrays))
        return replace(report, footer="\n".join([report.footer, *self.fallbacks.texts]))

    def _run_layers(
        self, inputs: list[np.ndarray], observer: Observer | None, state: State | None = None
    ) -> tuple[Any, ...]:
        """The outputs, computed by one layer after the other."""
        values = self._input_values(inputs)
        with np.errstate(all="ignore"):  # as in torch, 1/0 is inf and 0/0 is NaN without a word
            for step in self._steps:
                step.run(values, observer, state)
        return tuple(values[operand.index] for operand in self._returned)

    def _input_values(self, inputs: list[np.ndarray]) -> list[Any]:
        """The table of values of one forward pass, with the inputs filled in."""
        values: list[Any] = [None] * len(self._graph.operands)
        for op, value in zip(self._inputs, inputs, strict=True):
            for operand in op.outputs:
                values[operand.index] = value
        return values
