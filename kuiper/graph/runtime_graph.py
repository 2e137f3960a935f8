"""RuntimeGraph: a PNNX file that can run.

    NEED_INIT --init()--> NEED_BUILD --build(registry)--> COMPLETE --forward(x)--> outputs

``init`` turns the nouns of the file into runtime objects and wires them, ``build`` makes one layer for each operator
and fixes the order, ``forward`` walks that order or leaves the work to an engine. The graph does not know any layer or
engine: it is handed the registry that makes layers, which is also how a student's own get into a real model, and what
makes the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kuiper.errors import ExecutionError, GraphStateError, KuiperError, ShapeError, UnsupportedOperatorError
from kuiper.graph import pnnx
from kuiper.graph.boundary import as_input, as_output, shapes_of
from kuiper.graph.from_onnx import put_back_what_onnx_had
from kuiper.graph.from_pnnx import runtime_operators
from kuiper.graph.in_place import put_parts_back
from kuiper.graph.passes import DEFAULT_PASSES, find_passes
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
from kuiper.graph.schedule import last_uses, queue_order

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from kuiper.graph.draw import Drawing
    from kuiper.graph.passes import Pass
    from kuiper.graph.profile import Profile
    from kuiper.graph.protocols import ExecutorProtocol
    from kuiper.graph.protocols import LayerProtocol as LayerProtocol
    from kuiper.graph.protocols import RegistryProtocol as RegistryProtocol
    from kuiper.graph.report import Report
    from kuiper.graph.summary import Summary


ENDS = ("pnnx.Input", "pnnx.Output")
"""The operator types that are the graph's own ends and need no layer."""

Observer = Callable[[RuntimeOperator, tuple[Any, ...], float], None]


class GraphState(Enum):
    """What a RuntimeGraph still needs before it can run."""

    NEED_INIT = "needs init()"
    NEED_BUILD = "needs build()"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, ready to run: where its inputs lie in the table of values and where its outputs go."""

    op: RuntimeOperator
    forward: Callable[..., Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dropped: tuple[int, ...]


class OperatorTime(NamedTuple):
    """How long an operator took, or a step of it, in seconds, and when that was known: at its end or later.

    ``clock`` is a time of ``time.perf_counter``.
    """

    op: RuntimeOperator
    seconds: float
    clock: float


class RuntimeGraph:
    """A model: operators, the operands between them, and the order in which they run.

    Parameters
    ----------
    source : path of a .param file, or a pnnx.Graph made in code
    bin_path : path of the weights; by default the sibling of the .param file
    name : what messages and tables call the model; by default the name of the file

    ``kuiper.load`` does all three steps at once.
    """

    def __init__(
        self,
        source: str | PathLike[str] | pnnx.Graph,
        bin_path: str | PathLike[str] | None = None,
        name: str = "",
    ) -> None:
        self._source = source
        self._bin_path = bin_path
        self.name = name or ("graph" if isinstance(source, pnnx.Graph) else Path(source).name)
        self.state = GraphState.NEED_INIT
        self.operators: list[RuntimeOperator] = []
        self.operands: list[RuntimeOperand] = []
        self.order: list[RuntimeOperator] = []
        self._steps: list[Step] = []
        self._executor: ExecutorProtocol | None = None

    @property
    def input_operators(self) -> list[RuntimeOperator]:
        """The pnnx.Input operators in the order of the file: one argument of ``forward`` each."""
        return [op for op in self.operators if op.type == "pnnx.Input"]

    @property
    def output_operators(self) -> list[RuntimeOperator]:
        """The pnnx.Output operators in the order of the file."""
        return [op for op in self.operators if op.type == "pnnx.Output"]

    def init(self) -> None:
        """Read the file and make the runtime operators, wired by the operands they share.

        Raises
        ------
        ModelFormatError
            If the files do not follow the format.
        """
        if self.state is not GraphState.NEED_INIT:
            return
        graph = self._source if isinstance(self._source, pnnx.Graph) else pnnx.load(self._source, self._bin_path)
        self.operators, self.operands = runtime_operators(graph, self.name)
        self.state = GraphState.NEED_BUILD

    def build(
        self,
        registry: RegistryProtocol,
        optimize: bool = False,
        passes: Sequence[Pass | str] | None = None,
        engine: Callable[[RuntimeGraph], ExecutorProtocol] | None = None,
    ) -> None:
        """Make the layers and fix the order of execution; a graph that needs ``init`` gets it first.

        ``passes`` are rewrites of the graph, functions or their names, done in this order before layers are made; None
        stands for ``DEFAULT_PASSES`` with ``optimize`` and for none without. Whatever they are, the model computes the
        same: ``kuiper.graph.passes`` has them all. With an ``engine``, ``forward`` leaves the work to what it makes of
        the finished graph, and the layers are there for what that cannot do.

        Raises
        ------
        UnsupportedOperatorError
            If the registry lacks operators of the graph; the message lists all of them.
        ParameterError
            If there is no pass of a name; the message lists all names.
        """
        self.init()
        if self.state is GraphState.COMPLETE:
            return
        self._refuse_unknown(registry)
        if passes is None:
            passes = DEFAULT_PASSES if optimize else ()
        rewrites = find_passes(passes, self.name)
        self.state = GraphState.NEED_INIT  # should a pass or a layer fail halfway, the next build starts from the file
        self.operators = put_back_what_onnx_had(self.operators, self.operands)
        self.operators = put_parts_back(self.operators, self.operands)
        for rewrite in rewrites:
            self.operators = rewrite(self.operators, registry)
        for op in self.operators:
            if op.type not in ENDS and op.layer is None:
                op.layer = registry.create(op)
        self.order = queue_order(self.operators)
        self._steps = list(self._make_steps())
        self._executor = engine(self) if engine else None
        self.state = GraphState.COMPLETE

    def unsupported(self, registry: RegistryProtocol) -> dict[str, list[str]]:
        """The operator types that the registry lacks, each with the names of its operators; ``init`` must have run."""
        missing: dict[str, list[str]] = {}
        for op in self.operators:
            if op.type not in ENDS and not registry.is_supported(op.type):
                missing.setdefault(op.type, []).append(op.name)
        return missing

    def forward(self, *inputs: Any, observer: Observer | None = None) -> Any:
        """Run every operator in order and return the arrays that the graph returns (a tuple for several outputs).

        Outputs are passed on by reference and dropped after their last use. ``observer`` is called after each operator
        with the operator, its outputs and the seconds it took; ``print_step`` is one for debugging. As it wants to see
        every output, the layers then do the work even if there is an engine.

        Raises
        ------
        GraphStateError
            If the graph has not been built.
        KuiperError
            If an operator fails; the message names it, its type and the shapes of its inputs.
        """
        arrays = self._checked(inputs)
        results = self._executor.run(arrays) if self._executor and observer is None else None
        if results is None:
            results = self._run_layers(arrays, observer)
        return results[0] if len(results) == 1 else results

    def time_operators(self, *inputs: Any) -> list[OperatorTime]:
        """Run once, as ``forward`` does without an observer, and say how long each operator took, in order.

        With an engine there is an entry for each of an operator's steps, and none for an operator that costs nothing,
        such as a view.

        Raises
        ------
        GraphStateError, KuiperError
            As ``forward``.
        """
        arrays = self._checked(inputs)
        times: list[OperatorTime] = []

        def note(op: RuntimeOperator, seconds: float) -> None:
            times.append(OperatorTime(op, seconds, perf_counter()))

        if self._executor:
            if self._executor.run(arrays, observer=lambda step, seconds: note(step.op, seconds)) is not None:
                return times
            times.clear()
        self._run_layers(arrays, lambda op, outputs, seconds: note(op, seconds))
        return times

    def _run_layers(self, inputs: list[np.ndarray], observer: Observer | None) -> tuple[Any, ...]:
        """The outputs, computed by one layer after the other."""
        values = self._input_values(inputs)
        with np.errstate(all="ignore"):  # as in torch, 1/0 is inf and 0/0 is NaN without a word
            for step in self._steps:
                started = perf_counter() if observer else 0.0
                results = self._run_step(step, values)
                if observer:
                    observer(step.op, results, perf_counter() - started)
                for index, result in zip(step.outputs, results, strict=True):
                    values[index] = result
                for index in step.dropped:
                    values[index] = None
        return tuple(values[operand.index] for op in self.output_operators for operand in op.inputs)

    def __call__(self, *inputs: Any) -> Any:
        """Run the model: one argument for each pnnx.Input; a Tensor, or a (nested) tuple of them, comes back."""
        return as_output(self.forward(*inputs))

    def summary(self) -> Summary:
        """A table of the operators with their output shapes, parameters and floating-point operations."""
        from kuiper.graph.summary import Summary

        return Summary.of(self)

    def profile(self, *inputs: Any, runs: int = 10) -> Profile:
        """The time that each operator takes on these inputs, as a table or a Chrome trace.

        What is timed is what runs: the engine if there is one, else the layers.
        """
        from kuiper.graph.profile import Profile

        return Profile.of(self, inputs, runs)

    def plan(self, *inputs: Any, runs: int = 10) -> Report:
        """How the engine runs the model on these inputs: algorithm, bytes, expected and measured time of each step.

        Without inputs, made-up ones of the shapes that the file declares are used.

        Raises
        ------
        GraphStateError
            If there is no plan: the model was loaded with ``optimize=False``, or the engine leaves it to the layers.
        KuiperError
            If an operator fails on these inputs.
        """
        from kuiper.graph.sample_inputs import sample_inputs

        if self._executor is None:
            raise GraphStateError(self.name, "an engine", "none", hint="kuiper.load(..., optimize=True) has one")
        arrays = self._checked(inputs or sample_inputs(self))
        self.forward(*arrays)  # should a layer refuse the inputs, it says why
        return self._executor.report(arrays, runs=runs)

    def draw(self) -> Drawing:
        """The graph as a picture: SVG in a notebook, ``.svg()`` and ``.mermaid()`` as text, ``.save(path)``."""
        from kuiper.graph.draw import Drawing

        return Drawing.of(self)

    def __repr__(self) -> str:
        return f"<RuntimeGraph {self.name}: {len(self.operators)} operators, {self.state.value}>"

    def _refuse_unknown(self, registry: RegistryProtocol) -> None:
        """Raise one error that lists every operator type that the registry lacks."""
        missing = self.unsupported(registry)
        if not missing:
            return
        lines = []
        for type_name, names in missing.items():
            near = registry.near_matches(type_name)
            similar = f" (similar: {', '.join(near)})" if near else ""
            lines.append(f"{type_name} '{names[0]}'" + (f" and {len(names) - 1} more" if names[1:] else "") + similar)
        expected = "operator types that kuiper knows"
        raise UnsupportedOperatorError(self.name, expected, ", ".join(lines), hint="see docs/add-a-layer.md")

    def _make_steps(self) -> Iterator[Step]:
        """The order of execution with everything resolved that does not change from call to call."""
        order = [op for op in self.order if op.layer is not None]
        returned = {operand.index for op in self.output_operators for operand in op.inputs}
        for op, dropped in zip(order, last_uses(order), strict=True):
            assert op.layer is not None
            yield Step(
                op,
                op.layer.forward,
                tuple(operand.index for operand in op.inputs),
                tuple(operand.index for operand in op.outputs),
                tuple(index for index in dropped if index not in returned),
            )

    def _checked(self, inputs: tuple[Any, ...]) -> list[np.ndarray]:
        """What the user gave as arrays, one for each pnnx.Input, if the graph can run."""
        if self.state is not GraphState.COMPLETE:
            raise GraphStateError(self.name, "a built graph", self.state.value)
        operators = self.input_operators
        if len(inputs) != len(operators):
            names = ", ".join(f"'{op.name}'" for op in operators)
            raise ShapeError(self.name, f"{len(operators)} inputs ({names})", len(inputs))
        return [as_input(value, op.outputs[0], op.where) for op, value in zip(operators, inputs, strict=True)]

    def _input_values(self, inputs: list[np.ndarray]) -> list[Any]:
        """The table of values of one forward pass, with the inputs filled in."""
        values: list[Any] = [None] * len(self.operands)
        for op, value in zip(self.input_operators, inputs, strict=True):
            for operand in op.outputs:
                values[operand.index] = value
        return values

    def _run_step(self, step: Step, values: list[Any]) -> tuple[Any, ...]:
        """The outputs of one operator, one entry each."""
        inputs = [values[index] for index in step.inputs]
        try:
            result = step.forward(*inputs)
        except KuiperError as error:
            raise error.with_hint(f"inputs: {shapes_of(inputs)}") from error.__cause__
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
            raise ExecutionError(step.op.where, "a result", got, hint=f"inputs: {shapes_of(inputs)}") from error
        if len(step.outputs) == 1:
            return (result,)
        if not isinstance(result, (tuple, list)) or len(result) != len(step.outputs):
            got = f"{len(result)}" if isinstance(result, (tuple, list)) else type(result).__name__
            raise ExecutionError(step.op.where, f"{len(step.outputs)} outputs", got)
        return tuple(result)


def print_step(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
    """An observer for ``forward`` that prints one line for each operator."""
    print(f"{op.type:24} {op.name:24} {seconds * 1e6:10.1f} us  {shapes_of(outputs)}")
