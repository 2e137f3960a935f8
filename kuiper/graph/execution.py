"""How a built graph runs: by its engine if it has one, else one layer after the other.

run(inputs)    arrays, checked -> engine, or layers in order -> what is returned, in memory of the caller's own
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kuiper.errors import ExecutionError, GraphStateError, KuiperError, ShapeError
from kuiper.graph.boundary import as_input, owned_outputs, shapes_of
from kuiper.graph.failures import check_results, operator_failure
from kuiper.graph.fallback import Fallbacks, Refusal
from kuiper.graph.made_up import sample_inputs
from kuiper.graph.protocols import OperatorTime, RunnableGraph
from kuiper.graph.schedule import last_uses
from kuiper.graph.state import State
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.graph.building import Factories
    from kuiper.graph.protocols import ExecutorProtocol, Observer, WiredGraph
    from kuiper.graph.report import Report
    from kuiper.graph.runtime_operator import RuntimeOperator


class BuiltGraph(RunnableGraph, Protocol):
    """What a session, a plan and a page ask of a graph that has been built."""

    factories: Factories

    @property
    def execution(self) -> Execution: ...

    def init(self) -> None: ...

    def unbuilt(self) -> BuiltGraph: ...


class Execution:
    """What does not change from one run of a graph to the next; ``executor`` is its engine, if it has one.

    ``fallbacks`` are the mistakes because of which the graph takes a slower way, ``known`` is one that was told before.
    """

    def __init__(self, graph: WiredGraph, executor: ExecutorProtocol | None, known: str = "") -> None:
        self._graph = graph
        self._inputs = graph.input_operators
        self._returned = [operand for op in graph.output_operators for operand in op.inputs]
        self._last_layers = [operand.producer.layer if operand.producer else None for operand in self._returned]
        self._steps = _steps(graph.order, {operand.index for operand in self._returned})
        self.has_state = any(step.stateful for step in self._steps)
        self.reads_whole_texts = any(getattr(step.op.layer, "reads_whole_texts", False) for step in self._steps)
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
        arrays = self.checked(inputs)
        results = self._results(arrays, observer, state, outputs)
        if not outputs:
            return ()
        return owned_outputs(results, self._last_layers, arrays)

    def run_as_body(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs of a graph that is the body of an operator, which knows what types it gives.

        They may be inputs as they are, or views of them: nobody writes to what one turn of a loop gives to the next,
        and the graph around the operator sees to it that what it returns is the caller's alone.
        """
        return self._results([np.asarray(value) for value in inputs], None)

    def _results(
        self, arrays: list[np.ndarray], observer: Observer | None, state: State | None = None, outputs: bool = True
    ) -> tuple[Any, ...]:
        """What the engine, or the layers, make of these arrays."""
        state = state or self.fresh_state(arrays)
        answer = None
        if self.executor is not None and observer is None:
            answer = self.executor.run(arrays, state=state, outputs=outputs)
        if isinstance(answer, tuple):
            return answer
        results = self._run_layers(arrays, observer, state)
        if state is not None and state.paging is not None:
            results = tuple(result[:, state.integers["chosen"][: state.paging.chosen]] for result in results)
        if answer is not None:
            self.fallbacks.tell(answer)
        return results

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

        answer = None
        if self.executor is not None:
            state = self.fresh_state(arrays)
            answer = self.executor.run(arrays, lambda step, seconds: note(step.op, seconds), state=state)
        if not isinstance(answer, tuple):
            times.clear()
            self._run_layers(arrays, lambda op, outputs, seconds: note(op, seconds), self.fresh_state(arrays))
        if isinstance(answer, Refusal):
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
        arrays = self.checked(inputs or sample_inputs(self._graph, None))
        self.run(tuple(arrays), None)  # should a layer refuse the inputs, it says why
        report = self.executor.report(arrays, runs=runs, state=self.fresh_state(arrays))
        return replace(report, footer="\n".join([report.footer, *self.fallbacks.texts]))

    def _run_layers(self, inputs: list[np.ndarray], observer: Observer | None, state: State | None) -> tuple[Any, ...]:
        """The outputs, computed by one layer after the other on a table of all values."""
        values: list[Any] = [None] * len(self._graph.operands)
        for op, value in zip(self._inputs, inputs, strict=True):
            for operand in op.outputs:
                values[operand.index] = value
        with np.errstate(all="ignore"):  # as in torch, 1/0 is inf and 0/0 is NaN without a word
            for step in self._steps:
                step.run(values, observer, state)
        return tuple(values[operand.index] for operand in self._returned)


@dataclass(frozen=True, slots=True)
class OperatorStep:
    """One operator, ready to run: where its inputs lie in the table of values and where its outputs go."""

    op: RuntimeOperator
    forward: Callable[..., Any]
    inputs: list[int]
    outputs: list[int]
    dropped: list[int]
    stateful: bool

    def run(self, values: list[Any], observer: Observer | None, state: State | None) -> None:
        """Fill in the outputs, and drop what is not read again; ``state`` is that of the session, if there is any.

        Raises
        ------
        KuiperError
            If the layer or the observer fails; the message names the operator, its type and the shapes of its inputs.
        """
        started = perf_counter() if observer else 0.0
        results = self._results([values[index] for index in self.inputs], state)
        if observer:
            seconds = perf_counter() - started
            try:
                observer(self.op, results, seconds)
            except KuiperError:
                raise
            except Exception as error:
                raise operator_failure(self.op, error, "an observer that returns") from error
        for index, result in zip(self.outputs, results, strict=True):
            values[index] = result
        for index in self.dropped:
            values[index] = None

    def _results(self, inputs: list[Any], state: State | None) -> tuple[Any, ...]:
        """The outputs of the layer, one entry each."""
        try:
            result = self.forward(*inputs, state.of(self.op.name)) if state and self.stateful else self.forward(*inputs)
            check_results(self.op, result)
        except Exception as error:
            cause = error.__cause__ if isinstance(error, KuiperError) else error
            raise operator_failure(self.op, error, hint=f"inputs: {shapes_of(inputs)}") from cause
        if len(self.outputs) == 1:
            return (result,)
        if isinstance(result, (tuple, list)) and len(result) == len(self.outputs):
            return tuple(result)
        got = f"{len(result)}" if isinstance(result, (tuple, list)) else type(result).__name__
        raise ExecutionError(self.op.where, f"{len(self.outputs)} outputs", got)


def _steps(order: Sequence[RuntimeOperator], returned: set[int]) -> list[OperatorStep]:
    """The order of execution with everything resolved that does not change from call to call."""
    order = [op for op in order if op.layer is not None]
    return [
        OperatorStep(
            op,
            op.layer.forward,
            [operand.index for operand in op.inputs],
            [operand.index for operand in op.outputs],
            [index for index in unused if index not in returned],
            uses_state(op),
        )
        for op, unused in zip(order, last_uses(order), strict=True)
        if op.layer is not None
    ]


def uses_state(op: RuntimeOperator) -> bool:
    """Whether an operator's layer remembers earlier calls; layers of one's own need not say that they do not."""
    return getattr(op.layer, "uses_state", False)


def print_step(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
    """Print an operator, its output shapes and its time; an observer for ``RuntimeGraph.forward``.

    Parameters
    ----------
    op : the operator that has run
    outputs : its outputs
    seconds : how long it took

    Examples
    --------
    >>> import numpy as np
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> print_step(RuntimeOperator("nn.ReLU", "act"), (np.zeros((1, 8)),), 0.000025)
    nn.ReLU                  act                            25.0 us  (1, 8)
    """
    print(f"{printable(op.type):24} {printable(op.name):24} {seconds * 1e6:10.1f} us  {shapes_of(outputs)}")
