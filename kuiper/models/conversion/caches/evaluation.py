"""The value of every operand of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.models.conversion.repairs.operator_run import outputs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from kuiper.graph import pnnx


def values_of(graph: pnnx.Graph, inputs: Sequence[np.ndarray]) -> dict[str, Any]:
    """What the operands are for these inputs, by name; an operator that cannot be computed has none."""
    values: dict[str, Any] = {}
    given = iter(inputs)
    for op in graph.operators:
        if op.type == "pnnx.Input":
            values[op.outputs[0].name] = next(given)
        elif op.type != "pnnx.Output" and all(operand.name in values for operand in op.inputs):
            values.update(outputs_of([op], values) or {})
    return values
