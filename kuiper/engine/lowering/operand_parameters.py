"""Layers whose parameters the graph computes, from shapes: a plan knows them, and lowers the layer that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.lowering.registry import find_lowering, lowers
from kuiper.engine.values import AnyValue, PythonValue
from kuiper.layers.operand_parameters import WithOperandParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(WithOperandParameters)
def lower_operand_parameters(
    layer: WithOperandParameters, inputs: list[AnyValue], builder: Builder
) -> Sequence[AnyValue]:
    """The layer that constant parameters make, by its own lowering."""
    known = [value.example if isinstance(value, PythonValue) and value.constant else None for value in inputs]
    decline_if(any(known[i] is None for i in layer.parameter_positions))
    made, _ = layer.made_for(known)
    lowering = find_lowering(made)
    data = [value for i, value in enumerate(inputs) if i not in layer.parameter_positions]
    if lowering is None:
        raise Declined
    return lowering(made, data, builder)
