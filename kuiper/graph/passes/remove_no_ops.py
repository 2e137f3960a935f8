"""Take operators that do nothing at inference out of the graph.

before   conv -> dropout -> relu          after   conv -> relu
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


def remove_no_ops(operators: list[RuntimeOperator]) -> list[RuntimeOperator]:
    """The operators without those whose layer says ``is_no_op``; their consumers read the operand in front of them."""
    kept = []
    for op in operators:
        if not (op.layer is not None and op.layer.is_no_op):
            kept.append(op)
            continue
        (source,), (output,) = op.inputs, op.outputs
        for consumer in output.consumers:
            consumer.inputs = [source if operand is output else operand for operand in consumer.inputs]
        source.consumers = [consumer for consumer in source.consumers if consumer is not op]
        source.consumers += [consumer for consumer in output.consumers if consumer not in source.consumers]
        output.consumers = []
    return kept
