"""One operator of a file, computed by kuiper's layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import KuiperError
from kuiper.graph.from_pnnx import runtime_operators
from kuiper.graph.pnnx import Graph
from kuiper.layers.registry import create
from kuiper.tensor_limit import Limited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.graph.pnnx import Operator
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.layers.layer import Layer


def outputs_of(ops: Sequence[Operator], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """What these operators compute, by operand; None if one of them cannot be computed.

    Parameters
    ----------
    ops : operators in the order in which they run
    values : what the operators before them have computed, by operand
    """
    made: dict[str, Any] = {}
    for op in ops:
        try:
            outputs = _computed(op, {**values, **made})
        except Exception:  # of whatever kind: the graph will say so itself when it is loaded or run
            return None
        made.update(zip((operand.name for operand in op.outputs), outputs, strict=True))
    return made


def layer_of(op: Operator) -> Layer | None:
    """kuiper's layer for an operator of a file; None if there is none, or it refuses the operator."""
    try:
        return create(_runtime(op))
    except KuiperError:  # the graph will say so itself when it is loaded
        return None


def _computed(op: Operator, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The outputs of one operator, one entry each."""
    own = _runtime(op)
    with np.errstate(all="ignore"), Limited():
        result = create(own).forward(*(values[operand.name] for operand in own.inputs))
    return (result,) if len(op.outputs) == 1 else tuple(result)


def _runtime(op: Operator) -> RuntimeOperator:
    """The operator as layers take it, with those around it."""
    makers = {operand.producer for operand in op.inputs if operand.producer is not None}
    neighbours = [replace(maker, inputs=[], input_names=[]) for maker in makers]  # layers ask for constants among them
    around = [replace(reader, outputs=[]) for operand in op.outputs for reader in operand.consumers]
    operands = {operand: None for one in (op, *neighbours, *around) for operand in (*one.inputs, *one.outputs)}
    runtime, _ = runtime_operators(Graph([*neighbours, op, *around], list(operands)), "graph")
    return runtime[len(neighbours)]
