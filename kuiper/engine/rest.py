"""What follows an operator whose output sizes depend on numbers, such as NonZero or a Loop that its condition ends.

A plan belongs to the sizes that it was made for, so it ends in front of such an operator:

    photo -> convolutions ... -> scores -> NonZero -> Gather ... -> boxes
             '------ compiled ------'     '----- the rest, one step -----'

The rest is a graph of its own, whose inputs are what the plan has computed, and what the operator gives, which its
layer runs first. If it multiplies by weights, as the second stage of a detector does, it has an engine, too, which
plans it for each size. Otherwise its layers run: they take less time than a plan for another size in each call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.cannot_plan import PlanLeftError
from kuiper.graph.execution import Execution
from kuiper.graph.pnnx.ir import INPUT, OUTPUT
from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator
from kuiper.layers.operators.attribute import Attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kuiper.graph.protocols import ExecutorProtocol, WiredGraph


@dataclass
class _Graph:
    """Operators that are wired among themselves, in order."""

    name: str
    operands: list[RuntimeOperand]
    input_operators: list[RuntimeOperator]
    order: list[RuntimeOperator]
    output_operators: list[RuntimeOperator]
    operators: list[RuntimeOperator]


class Rest:
    """The operators from ``first`` on, the layer of which runs by itself.

    Parameters
    ----------
    name : the graph's
    operators : those that need what the first of them gives, in order
    outputs : the graph's outputs among their operands
    engine : makes the engine of all but the first, if they have weights
    """

    def __init__(
        self,
        name: str,
        operators: Sequence[RuntimeOperator],
        outputs: Sequence[RuntimeOperand],
        engine: Callable[[WiredGraph], ExecutorProtocol],
    ) -> None:
        first, *others = operators
        made = {operand for op in others for operand in op.outputs}
        read = dict.fromkeys(operand for op in others for operand in op.inputs if operand not in made)
        stored = [operand for operand in read if operand.producer and type(operand.producer.layer) is Attribute]
        others = [*(operand.producer for operand in stored if operand.producer), *others]
        given = [*read.keys() - stored, *(operand for operand in outputs if operand not in made)]
        self._first = first
        self._given = list(dict.fromkeys(given))
        self.inputs = list(dict.fromkeys([*first.inputs, *(one for one in self._given if one not in first.outputs)]))
        """What is read from the graph in front, in the order of ``run``'s arguments."""
        graph = _wired(name, self._given, others, outputs)
        has_weights = any(op.attrs and type(op.layer) is not Attribute for op in others)
        self._execution = Execution(graph, engine(graph) if has_weights else None)

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        """The graph's outputs that the rest makes, from what the graph in front has made."""
        values = dict(zip(self.inputs, inputs, strict=True))
        assert self._first.layer is not None
        results = self._first.layer.forward(*(values[operand] for operand in self._first.inputs))
        results = (results,) if len(self._first.outputs) == 1 else results
        values |= dict(zip(self._first.outputs, results, strict=True))
        given = [values[operand] for operand in self._given]
        if not all(isinstance(value, (np.ndarray, np.generic)) for value in given):
            raise PlanLeftError(f"{self._first.where}: expected arrays, got another value", is_mistake=False)
        return self._execution.run_as_body(given)


class Rests:
    """The rests of one graph, each of which is made once.

    ``starts`` are the operators whose output sizes turned out to depend on numbers.

    Parameters
    ----------
    name : the graph's
    engine : makes the engine of a rest
    """

    def __init__(self, name: str, engine: Callable[[WiredGraph], ExecutorProtocol]) -> None:
        self.starts: set[RuntimeOperator] = set()
        self._name, self._engine = name, engine
        self._made: dict[tuple[RuntimeOperator, ...], Rest] = {}

    def of(self, operators: Iterable[RuntimeOperator], outputs: Sequence[RuntimeOperand]) -> Rest:
        """The rest that these operators are."""
        key = tuple(operators)
        if key not in self._made:
            self._made[key] = Rest(self._name, key, outputs, self._engine)
        return self._made[key]


def _wired(
    name: str,
    inputs: Sequence[RuntimeOperand],
    operators: Sequence[RuntimeOperator],
    outputs: Sequence[RuntimeOperand],
) -> _Graph:
    """Copies of operators, with operands of their own, and the layers that they have."""
    sources = [RuntimeOperator(INPUT, f"input_{k}", outputs=[operand]) for k, operand in enumerate(inputs)]
    end = RuntimeOperator(OUTPUT, "output", inputs=list(outputs), input_names=[""] * len(outputs))
    copies: dict[RuntimeOperand, RuntimeOperand] = {}
    wired: list[RuntimeOperator] = []
    for op in (*sources, *operators, end):
        new = replace(op, inputs=[copies[one] for one in op.inputs])
        for operand in dict.fromkeys(new.inputs):
            operand.consumers.append(new)
        for operand in op.outputs:
            copies[operand] = replace(operand, index=len(copies), producer=new, consumers=[])
        new.outputs = [copies[operand] for operand in op.outputs]
        wired.append(new)
    first = len(sources)
    return _Graph(name, list(copies.values()), wired[:first], wired[first:-1], wired[-1:], wired)
