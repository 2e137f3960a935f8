"""Take operators out whose output nobody needs.

    before   x -+-> nn.Conv2d -> y
                '-> nn.ReLU -> torch.mean          nobody reads the mean, so nobody needs the ReLU either
             pnnx.Attribute                        a constant that nobody reads
    after    x -> nn.Conv2d -> y

Needed are the graph's outputs, what is needed to compute them, and so on backwards. The inputs stay, read or not: they
are the model's arguments. So do operators whose layer is not kuiper's own: it may do more than compute (print, count).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.passes.rewiring import forget
from kuiper.graph.pnnx.ir import BOUNDARY

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def eliminate_dead_code(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators that the outputs of the graph depend on, and its inputs."""
    needed: set[RuntimeOperator] = set()
    waiting = [op for op in operators if op.type in BOUNDARY or not registry.is_built_in(op.type)]
    while waiting:
        op = waiting.pop()
        if op not in needed:
            needed.add(op)
            waiting += op.predecessors
    forget({op for op in operators if op not in needed})
    return [op for op in operators if op in needed]
