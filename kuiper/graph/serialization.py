"""A graph without its wires: what pickle and copy take in the place of one.

Operators and operands point to each other. pickle and deepcopy follow such pointers by recursion, too deep for Python
where hundreds of operators stand one behind the other. So they go as two lists, and the wires as places in them:

    operators   [in, conv, out]      operands   [x, y]      wires   in: [] -> [0], conv: [0] -> [1], out: [1] -> []

The same functions serve the dataclasses of a file (``pnnx.Graph``) and the runtime objects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Wires = list[tuple[list[int], list[int]]]


@dataclass
class SerializedGraph:
    """Operators without inputs, outputs and layers; operands without producer and consumers; and how they belong.

    ``of_operators`` has the places of inputs and outputs, ``of_operands`` those of the producer, if any, and consumers.
    """

    operators: list[Any]
    operands: list[Any]
    of_operators: Wires
    of_operands: Wires

    @classmethod
    def of(cls, operators: Sequence[Any], operands: Iterable[Any], **without: Any) -> SerializedGraph:
        """Take the wires off; the graph itself is left as it is. ``without`` are fields to be emptied, too."""
        used = [operand for op in operators for operand in (*op.inputs, *op.outputs)]
        place_of = {operand: place for place, operand in enumerate(dict.fromkeys([*operands, *used]))}
        op_place = {op: place for place, op in enumerate(operators)}
        return cls(
            [
                replace(op, inputs=[], outputs=[], params=dict(op.params), attrs=dict(op.attrs), **without)
                for op in operators
            ],
            [replace(operand, producer=None, consumers=[]) for operand in place_of],
            [([place_of[one] for one in op.inputs], [place_of[one] for one in op.outputs]) for op in operators],
            [
                (
                    [op_place[op] for op in [operand.producer] if op in op_place],
                    [op_place[op] for op in operand.consumers if op in op_place],
                )
                for operand in place_of
            ],
        )

    def wired(self) -> tuple[list[Any], list[Any]]:
        """The operators and operands, wired; they are this object's own, so wire them once."""
        for op, (inputs, outputs) in zip(self.operators, self.of_operators, strict=True):
            op.inputs = [self.operands[place] for place in inputs]
            op.outputs = [self.operands[place] for place in outputs]
        for operand, (producer, consumers) in zip(self.operands, self.of_operands, strict=True):
            operand.producer = self.operators[producer[0]] if producer else None
            operand.consumers = [self.operators[place] for place in consumers]
        return self.operators, self.operands
