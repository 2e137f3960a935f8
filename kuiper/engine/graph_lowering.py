"""From a graph and the shapes of its inputs to steps and buffers: what each operator becomes.

Every operator takes one of three ways, in this order:

    view       running the layer on placeholders gives a view of its input (reshape, permute, split ...): nothing to run
    lowering   a function registered for the layer's class turns it into steps for the compiled program
    layer      the readable layer runs in Python, between two segments of compiled steps

so a plan exists for every graph, and the more operators have a lowering the fewer stops it makes. What depends on
shapes only (``size``, ``[size(@0,0),-1]``) is computed here, once: a plan belongs to one set of input shapes.

A plan ends in front of an operator whose output sizes depend on numbers: all that needs what it gives is one step, the
``Rest``.

The graph is walked once. An operator's output shapes are known when it is lowered, and nothing needs them earlier: a
concatenation moves its parts into its output when its turn comes (``concatenation.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine import values
from kuiper.engine.cannot_plan import CannotPlanError
from kuiper.engine.lowering import find_lowering
from kuiper.engine.lowering.chosen_rows import chosen_rows, row_wise_end
from kuiper.engine.lowering.registry import takes_empty
from kuiper.engine.planned_step import LayerStep
from kuiper.engine.transfers import export_typed, export_value
from kuiper.engine.values import AnyValue, PythonValue, Value, whole_vectors
from kuiper.errors import KuiperError
from kuiper.expression.expression_layer import Expression
from kuiper.graph.execution import uses_state
from kuiper.graph.failures import check_results, operator_failure
from kuiper.graph.fallback import noting
from kuiper.graph.schedule import depth_first_order
from kuiper.layers.operand_parameters import computes_as_kuiper
from kuiper.layers.operators.attribute import Attribute
from kuiper.layers.operators.onnx_control_flow import If, Loop

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence, Set

    from kuiper.engine.builder import Builder
    from kuiper.engine.rest import Rests
    from kuiper.graph.protocols import WiredGraph
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
    from kuiper.layers.layer import Array

_SMALL = 1 << 16
"""Bytes that are sooner copied than looked at in Python."""


@dataclass(eq=False)
class GraphLowering:
    """Lowers one graph, operator by operator, for inputs of given shapes and types.

    ``builder`` has the steps and the memory when it is done, ``values`` the value of each operand by its index, and
    ``exported`` what the graph returns. A plan ends in front of operators in ``ends``; ``rests`` makes what follows.
    """

    graph: WiredGraph
    builder: Builder
    rests: Rests | None = None
    ends: Set[RuntimeOperator] = frozenset()
    values: dict[int, AnyValue] = field(default_factory=dict)
    exported: list[PythonValue] = field(default_factory=list)

    def lower(self, examples: Sequence[Array], outputs: bool = True) -> None:
        """Lower all operators for inputs like these (only shapes and types matter).

        Without ``outputs``, what only they need is left out: what no state needs.

        Raises
        ------
        CannotPlanError
            If a layer refuses these shapes, or an axis is empty.
        """
        for op, example in zip(self.graph.input_operators, examples, strict=True):
            if example.size == 0 and not all(takes_empty(reader.layer) for reader in op.outputs[0].consumers):
                raise CannotPlanError(f"{op.where}: expected numbers, got an empty array {example.shape}")
            (operand,) = op.outputs
            self.values[operand.index] = self.builder.python_value(example)
        needed = None if outputs else _needed_for(op for op in self.graph.operators if uses_state(op))
        rest: dict[RuntimeOperator, None] = {}
        for op in depth_first_order(self.graph.operators):
            if op.layer is not None and (needed is None or op in needed):
                with noting(op.where):
                    if any(operand.producer in rest for operand in op.inputs) or self._is_open(op):
                        rest[op] = None
                    else:
                        self._lower_operator(op)
        if rest:
            self._add_rest(rest)
        for op in self.graph.output_operators if outputs else ():
            self.builder.op = op
            with noting(op.where):
                self.exported += [self._export(self._returned(operand)) for operand in op.inputs]

    def _is_open(self, op: RuntimeOperator) -> bool:
        """Whether the sizes of what it gives are known to depend on numbers."""
        if self.rests is None:
            return False
        if isinstance(op.layer, Loop) and not (
            op.layer.is_counted and all(values.is_known(self.values[one.index]) for one in op.inputs[: op.layer.ends])
        ):
            return True
        return op in self.ends

    def _add_rest(self, operators: Collection[RuntimeOperator]) -> None:
        """All that needs what the first of these operators gives, as one step."""
        assert self.rests is not None
        first = next(iter(operators))
        returned = dict.fromkeys(operand for op in self.graph.output_operators for operand in op.inputs)
        outputs = [operand for operand in returned if operand.producer in operators]
        rest = self.rests.of(operators, outputs)
        inputs = tuple(self.values[operand.index] for operand in rest.inputs)
        if not all(isinstance(value, Value) or isinstance(value.example, np.ndarray) for value in inputs):
            raise CannotPlanError(f"{first.where}: expected arrays in front of it, got another value")
        made = tuple(self.builder.python_value(None) for _ in outputs)
        self.values.update({operand.index: value for operand, value in zip(outputs, made, strict=True)})
        self.builder.steps.append(LayerStep(first, inputs, made, rest))

    def _lower_operator(self, op: RuntimeOperator) -> None:
        """One operator: a weight, a view, steps of its lowering, or its layer in Python."""
        self.builder.op = op
        if type(op.layer) is Attribute:
            self.values[op.outputs[0].index] = self.builder.python_value(op.layer, constant=True)
            return
        inputs = [self.values[operand.index] for operand in op.inputs]
        if self.builder.paging is not None and op is row_wise_end(self.graph):
            inputs[0] = chosen_rows(self.builder, inputs[0])
        if isinstance(op.layer, If) and values.is_known(inputs[0]) and not self._has_open(op.layer, inputs):
            chosen = self._lower_branch(op.layer, inputs)
            self.values.update({operand.index: value for operand, value in zip(op.outputs, chosen, strict=True)})
            return
        outputs = self._by_its_lowering(op, inputs)
        if outputs is None:
            outputs = self._run_on_examples(op, inputs)
        for operand, value in zip(op.outputs, outputs, strict=True):
            if isinstance(value, Value) and value.view.size == 0:
                text = f"{op.where}: expected numbers, got an empty array {value.shape}"
                raise CannotPlanError(text, op, self._has_sizes(inputs))
            self.values[operand.index] = value

    def _by_its_lowering(self, op: RuntimeOperator, inputs: list[AnyValue]) -> Sequence[AnyValue] | None:
        """What its lowering gives; None if it has none, or that declines."""
        if all(map(values.is_known, inputs)) or any(map(values.is_unknown_number, inputs)):
            return None
        lowering = find_lowering(op.layer)
        return None if lowering is None else self.builder.attempt(lambda: lowering(op.layer, inputs, self.builder))

    def _has_open(self, layer: If, inputs: list[AnyValue]) -> bool:
        """Whether sizes that depend on numbers are inside the body that is chosen."""
        assert isinstance(inputs[0], PythonValue)
        body, _ = layer.chosen(inputs[0].example, inputs[1:])
        return any(isinstance(op.layer, Loop) or op in self.ends for op in body.operators)

    def _lower_branch(self, layer: If, inputs: list[AnyValue]) -> list[AnyValue]:
        """The outputs of a condition that depends on sizes only: the operators of one body, in the same plan."""
        assert isinstance(inputs[0], PythonValue)
        body, given = layer.chosen(inputs[0].example, inputs[1:])
        inner, outer = replace(self, graph=body, values={}), self.builder.op
        for op, value in zip(body.input_operators, given, strict=True):
            inner.values[op.outputs[0].index] = value
        for op in depth_first_order(body.operators):
            if op.layer is not None:
                with noting(op.where):
                    inner._lower_operator(op)
        self.builder.op = outer
        return [inner.values[operand.index] for op in body.output_operators for operand in op.inputs]

    def _run_on_examples(self, op: RuntimeOperator, inputs: list[AnyValue]) -> Sequence[AnyValue]:
        """Views, constants, or a step in Python, by what the layer makes of the placeholders."""
        examples = [value.view if isinstance(value, Value) else value.example for value in inputs]
        assert op.layer is not None
        if uses_state(op):
            raise CannotPlanError(f"{op.where}: expected steps for an operator with state, got none")
        try:
            results = op.layer.forward(*examples)
            check_results(op, results)
        except MemoryError:  # there may be enough another time
            raise
        except Exception as error:  # the readable path may raise it with the user's own data
            if self._is_mistake(error, op, inputs):
                raise
            depends = self._has_sizes(inputs)
            raise CannotPlanError(str(operator_failure(op, error)), op if depends else None, depends) from error
        results = (results,) if len(op.outputs) == 1 else tuple(results)
        if len(results) != len(op.outputs):
            raise CannotPlanError(f"{op.where}: expected {len(op.outputs)} outputs, got {len(results)}")
        sources = [value for value in inputs if isinstance(value, Value)]
        views = [values.view_of_any(sources, result) for result in results]
        if all(view is not None for view in views) and not _may_be_indexed(inputs):
            return [view for view in views if view is not None]
        if (imported := self._on_arena_first(inputs, results)) is not None:
            return self._run_on_examples(op, list(imported))
        constant = _depends_on_shapes_only(op, inputs)
        outputs = tuple(self.builder.python_value(result, constant) for result in results)
        if not constant:
            self.builder.steps.append(LayerStep(op, tuple(inputs), outputs))
        return outputs

    def _on_arena_first(self, inputs: list[AnyValue], results: Sequence[Any]) -> Sequence[AnyValue] | None:
        """The inputs with a tensor from outside on the arena, of which the results are views; None if not so.

        There a view costs nothing, and outside it costs a call in Python. Of a large tensor a view is better taken
        before it is imported, if perhaps nobody reads the rest, or if it would not be a view of what is imported.
        """
        value = inputs[0] if len(inputs) == 1 else None
        if not isinstance(value, PythonValue) or value.constant:
            return None
        example = value.example
        if not isinstance(example, np.ndarray) or example.size == 0:
            return None
        if example.nbytes > _SMALL and not (
            _lies_in_c_order(example) and all(example.size == one.size for one in results)
        ):
            return None
        if not all(isinstance(one, np.ndarray) and np.may_share_memory(one, example) for one in results):
            return None
        if example.dtype != np.float32 and not all(one.ndim for one in (example, *results)):
            return None  # no step computes with a integer that has no axes
        return self.builder.attempt(lambda: [self.builder.tensor(value)])

    def _is_mistake(self, error: Exception, op: RuntimeOperator, inputs: list[AnyValue]) -> bool:
        """Whether neither the layer's author nor what stands in for the inputs can be to blame for an error.

        Placeholders say nothing where values are counted or indices, or sizes depend on what is in the inputs.
        """
        if isinstance(error, KuiperError) or not computes_as_kuiper(op.layer):
            return False
        return not (self._has_guessed(inputs) and isinstance(error, (ValueError, IndexError, ArithmeticError)))

    def _has_guessed(self, inputs: list[AnyValue]) -> bool:
        """Whether there are counts, indices or sizes among what stands in for the inputs."""
        return any(not (value.is_float if isinstance(value, Value) else self._is_given(value)) for value in inputs)

    def _has_sizes(self, inputs: list[AnyValue]) -> bool:
        """The same, or such inputs of the graph, which another call has others of."""
        numbers = (value for value in inputs if isinstance(value, PythonValue) and not value.constant)
        return self._has_guessed(inputs) or any(getattr(v.example, "dtype", None) != np.float32 for v in numbers)

    def _is_given(self, value: PythonValue) -> bool:
        """Whether it is what it looks like: an input, or the same in every run."""
        return value.constant or value.slot < len(self.graph.input_operators)

    def _returned(self, operand: RuntimeOperand) -> AnyValue:
        """An output of the graph; of a batch those rows that the step asks for, if that was not seen to before."""
        value = self.values[operand.index]
        if self.builder.paging is None or operand.producer is row_wise_end(self.graph):
            return value
        return chosen_rows(self.builder, value)

    def _export(self, value: AnyValue) -> PythonValue:
        if isinstance(value, PythonValue):
            return value
        exported = export_value(self.builder, value) if value.is_float else export_typed(self.builder, value)
        self.builder.written.append(exported)
        return exported


def _lies_in_c_order(example: Array) -> bool:
    """Whether what is imported of a tensor like this lies in C order without gaps (``import_value``)."""
    return (
        example.ndim in (1, 2, 3)
        and example.dtype == np.float32
        and whole_vectors(example.shape[-1]) == example.shape[-1]
    )


def _needed_for(ends: Iterable[RuntimeOperator]) -> set[RuntimeOperator]:
    """These operators and all whose outputs they need."""
    needed: set[RuntimeOperator] = set()
    waiting = list(ends)
    while waiting:
        op = waiting.pop()
        if op not in needed:
            needed.add(op)
            waiting += [operand.producer for operand in op.inputs if operand.producer is not None]
    return needed


def _may_be_indexed(inputs: list[AnyValue]) -> bool:
    """Whether what the layer made of placeholders may be another view in another call; an only input is no index."""
    return len(inputs) > 1 and any(map(values.may_be_index, inputs))


def _depends_on_shapes_only(op: RuntimeOperator, inputs: list[AnyValue]) -> bool:
    if all(map(values.is_known, inputs)):
        return True
    if getattr(op.layer, "of_shapes", False):
        return True
    if not isinstance(op.layer, Expression):
        return False
    return all(values.is_known(inputs[k]) for k in op.layer.program.inputs_read())
