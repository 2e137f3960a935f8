"""kuiper.FusedExpression: an expression and the activation behind it, as one operator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kuiper.expression.expression_layer import Expression
from kuiper.layers.activation import Activation
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("kuiper.FusedExpression")
class FusedExpression(Expression):
    """``activation`` of the value of ``expr``, which is a tensor.

    Source: made by the pass fuse_activation_into_expression.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.activation = Activation.read(op)

    def forward(self, *inputs: Any) -> Any:
        return self.activation.apply(super().forward(*inputs), self.op.where)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return super().flops(inputs, outputs) + math.prod(outputs[0])
