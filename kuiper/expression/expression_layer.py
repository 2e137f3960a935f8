"""pnnx.Expression: several small operators in one line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.expression.evaluation import compile_expression
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("pnnx.Expression")
class Expression(Layer):
    """The value of ``expr``, where ``@k`` is the k-th input: ``add(mul(@0,2),@1)`` is ``2 * input_0 + input_1``.

    The text is read once, when the layer is made. The output is an array, a plain number (``size(@0,2)``), or a list of
    such (``[@0,@1]``), as the text has it. An operator of another type that is one expression brings its own text.

    Source: pnnx's Expression; each function does what torch does with tensors and Python with plain numbers.
    """

    data_inputs = None  # an Expression that replaced another operator keeps that operator's names for its inputs

    def __init__(self, op: RuntimeOperator, text: str | None = None) -> None:
        super().__init__(op)
        self.program = compile_expression(op.str_param("expr") if text is None else text, len(op.inputs), op.where)

    def forward(self, *inputs: Any) -> Any:
        return self.program.run(inputs)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return self.program.flops(inputs)
