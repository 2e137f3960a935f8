"""Take operators that do nothing at inference out of the graph.

    before   x -> nn.Conv2d -> nn.Dropout -> nn.ReLU -> y
    after    x -> nn.Conv2d -> nn.ReLU -> y

Whether an operator does nothing, its layer says: ``is_no_op``, as of dropout and identity. Those who read its output
read its input from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.passes.rewiring import read_instead

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def remove_no_ops(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators without those that do nothing."""
    kept = []
    for op in operators:
        if not _is_no_op(op, registry):
            kept.append(op)
            continue
        (source,), (output,) = op.inputs, op.outputs
        source.consumers = [consumer for consumer in source.consumers if consumer is not op]
        read_instead(output, source)
    return kept


def _is_no_op(op: RuntimeOperator, registry: RegistryProtocol) -> bool:
    """Ask the layer; one with weights is not made only to be asked, it surely does something."""
    if op.attrs or len(op.inputs) != 1 or len(op.outputs) != 1:
        return False
    op.layer = op.layer or registry.create(op)
    return op.layer.is_no_op
