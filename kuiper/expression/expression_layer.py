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
    such (``[@0,@1]``), as the text has it.

    Parameters
    ----------
    op : the operator, whose parameter ``expr`` is the text, and whose inputs are ``@0``, ``@1`` and so on
    text : the expression of an operator of another type that is one expression; None takes that of ``op``

    Raises
    ------
    ExpressionError
        If the text cannot be read, or it refers to an input that does not exist.
    ParameterError
        If there is neither ``expr`` nor ``text``.

    Examples
    --------
    >>> from kuiper.graph.runtime_operator import RuntimeOperator
    >>> Expression(RuntimeOperator("pnnx.Expression", "pi"), "mul(2,3)").forward()
    6

    Source: pnnx's Expression; each function does what torch does with tensors and Python with plain numbers.
    """

    is_pixelwise = True
    data_inputs = None  # an Expression that replaced another operator keeps that operator's names for its inputs

    def __init__(self, op: RuntimeOperator, text: str | None = None) -> None:
        super().__init__(op)
        self.program = compile_expression(op.str_param("expr") if text is None else text, len(op.inputs), op.where)

    def forward(self, *inputs: Any) -> Any:
        return self.program.run(inputs)

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return self.program.flops(inputs)
