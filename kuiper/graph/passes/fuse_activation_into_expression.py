"""Let an expression apply the activation behind it.

    before   x, r -> pnnx.Expression 'sum' -> nn.ReLU -> y                    expr=add(@0,@1)
    after    x, r -> kuiper.FusedExpression 'sum+relu' -> y                   expr=add(@0,@1) activation=relu

For what no convolution could take in: a sum of two concatenations, a product with a gate. One pass over memory does for
both.

Left alone: an expression whose output someone else reads, too, and one of which the file does not say that float32
comes out (activations of integers have rules of their own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.graph.declined import decline_if
from kuiper.graph.passes.fusion import EXPRESSIONS, merge_activation
from kuiper.graph.passes.rewiring import merge_readers
from kuiper.graph.pnnx.ir import DataType

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def fuse_activation_into_expression(
    operators: list[RuntimeOperator], registry: RegistryProtocol
) -> list[RuntimeOperator]:
    """The operators with activations taken into the expressions in front of them."""

    def merge(op: RuntimeOperator) -> Merged:
        decline_if(len(op.outputs) != 1 or op.outputs[0].type is not DataType.F32)
        return merge_activation(op, EXPRESSIONS, registry)

    return merge_readers(operators, merge)
