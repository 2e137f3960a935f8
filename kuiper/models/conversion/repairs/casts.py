"""Numbers that the model rounds to float16 or bfloat16 on their way, which pnnx takes for a step that does nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.models.conversion.repairs.calls import relative
from kuiper.models.conversion.repairs.graph_edit import made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.graph.pnnx import Operator
    from kuiper.models.conversion.repairs.calls import Calls

HALVES = {"torch.float16": "torch.half", "torch.bfloat16": "torch.bfloat16"}
"""What such a cast is called in the calls of a model, and in a file."""


def with_rounded_inputs(op: Operator, values: Mapping[str, Any], calls: Calls) -> list[list[Operator]]:
    """The operator behind casts of one of its inputs there and back, for each input that the model casts."""
    ways = []
    for place, operand in enumerate(op.inputs):
        for name in _halves_of(values[operand.name], calls):
            there = made("Tensor.to", f"{op.name}_half_{place}", [operand], dtype=name)
            back = made("Tensor.to", f"{op.name}_float_{place}", there.outputs, dtype="torch.float")
            inputs = [*op.inputs[:place], back.outputs[0], *op.inputs[place + 1 :]]
            ways.append([there, back, replace(op, inputs=inputs)])
    return ways


def _halves_of(value: Any, calls: Calls) -> list[str]:
    """The element types of half the width to which the model casts this very array."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float32:
        return []
    found = []
    for call in calls.named("aten::_to_copy"):
        name, source = HALVES.get(str(call.kwargs.get("dtype"))), call.args[0]
        if name and source.size == value.size and relative(source.reshape(-1), value.reshape(-1)) < ALIKE:
            found.append(name)
    return list(dict.fromkeys(found))


ALIKE = 1e-6
"""So far apart, as a fraction of the largest number, may be what two programs compute for one thing."""
