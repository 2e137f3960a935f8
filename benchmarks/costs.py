"""What each operator of a graph has to do at least: floating-point operations, and bytes that must move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.graph import RuntimeGraph
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator


@dataclass(frozen=True)
class Cost:
    """One operator, with what has been fused into it.

    ``flops`` counts a multiply-add as two and a convolution as done directly; ``read`` are bytes of inputs and weights,
    ``written`` those of outputs, as float32: what moves if all else stays in registers or in the nearest cache.
    """

    kind: str
    flops: int
    read: int
    written: int

    @property
    def bytes(self) -> int:
        """All that moves."""
        return self.read + self.written

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.flops / self.bytes


def costs_of(graph: RuntimeGraph) -> dict[str, Cost]:
    """The costs by the operator's name; ``flops`` is 0 for operators that only move numbers.

    ``graph`` has been built from a file that fixes all shapes.
    """
    flops = {row.name: row.flops or 0 for row in graph.summary().rows}
    return {op.name: Cost(kind_of(op), flops[op.name], *bytes_of(op)) for op in graph.operators if op.name in flops}


def bytes_of(op: RuntimeOperator) -> tuple[int, int]:
    """Inputs and weights, and outputs, as float32."""
    weights = sum(math.prod(attr.shape) for attr in op.attrs.values())
    return 4 * (weights + numbers_in(op.inputs)), 4 * numbers_in(op.outputs)


def numbers_in(operands: Iterable[RuntimeOperand]) -> int:
    """How many numbers tensors have together."""
    shapes = [operand.shape or () for operand in operands]
    return sum(math.prod(size for size in shape if isinstance(size, int)) for shape in shapes)


def kind_of(op: RuntimeOperator) -> str:
    """How a picture groups operators: convolutions by what a kernel makes of them, the others by their type."""
    name = op.type.split(".")[-1].removeprefix("Fused")
    if name == "Conv2d":
        _, channels_of_group, *kernel = op.attrs["weight"].shape
        if channels_of_group == 1 and op.params["groups"].value != 1:
            return "depthwise convolution"
        return f"{'x'.join(map(str, kernel))} convolution"
    return {"ConvTranspose2d": "transposed convolution", "Linear": "linear"}.get(name, "other")
