"""How a built graph runs: by its engine if it has one, else one layer after the other.

run(inputs)    arrays, checked -> engine, or layers in order -> what is returned, in memory of the caller's own
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import GraphStateError, ShapeError
from kuiper.graph.boundary import as_input, owned_outputs
from kuiper.graph.sample_inputs import sample_inputs
from kuiper.graph.step import OperatorTime, Step

if TYPE_CHECKING:
    from kuiper.graph.protocols import ExecutorProtocol, WiredGraph
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.step import Observer


class Execution:
    """What does not change from one run of a graph to the next; ``executor`` is its engine, if it has one."""

    def __init__(self, graph: WiredGraph, executor: ExecutorProtocol | None) -> None:
        self._graph = graph
        self._inputs = graph.input_operators
        self._returned = [operand for op in graph.output_operators for operand in op.inputs]
        self._steps = list(Step.of(graph.order, self._returned))
        self.executor = executor

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

    def run(self, inputs: tuple[Any, ...], observer: Observer | None) -> tuple[Any, ...]:
        """What the graph returns; an observer wants to see every output, so then the layers do the work."""
        arrays = self.checked(inputs)
        results = self.executor.run(arrays) if self.executor and observer is None else None
        if results is None:
            results = self._run_layers(arrays, observer)
        layers = [operand.producer.layer if operand.producer else None for operand in self._returned]
        return owned_outputs(results, layers, arrays)

    def times(self, inputs: tuple[Any, ...]) -> list[OperatorTime]:
        """The times of one run: of each step of the engine that does something, or of each layer."""
        arrays = self.checked(inputs)
        times: list[OperatorTime] = []

        def note(op: RuntimeOperator, seconds: float) -> None:
            times.append(OperatorTime(op, seconds, perf_counter()))

        if self.executor:
            if self.executor.run(arrays, observer=lambda step, seconds: note(step.op, seconds)) is not None:
                return times
            times.clear()
        self._run_layers(arrays, lambda op, outputs, seconds: note(op, seconds))
        return times

    def plan(self, inputs: tuple[Any, ...], runs: int) -> Report:
        """What the engine reports of its plan for these inputs, or for made-up ones if there are none.

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
        return self.executor.report(arrays, runs=runs)

    def _run_layers(self, inputs: list[np.ndarray], observer: Observer | None) -> tuple[Any, ...]:
        """The outputs, computed by one layer after the other."""
        values = self._input_values(inputs)
        with np.errstate(all="ignore"):  # as in torch, 1/0 is inf and 0/0 is NaN without a word
            for step in self._steps:
                step.run(values, observer)
        return tuple(values[operand.index] for operand in self._returned)

    def _input_values(self, inputs: list[np.ndarray]) -> list[Any]:
        """The table of values of one forward pass, with the inputs filled in."""
        values: list[Any] = [None] * len(self._graph.operands)
        for op, value in zip(self._inputs, inputs, strict=True):
            for operand in op.outputs:
                values[operand.index] = value
        return values
