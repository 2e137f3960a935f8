"""prim::Constant: a plain value, where pnnx was told to optimise nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import ParameterError
from kuiper.graph.pnnx.values import SPELLED_FLOATS
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("prim::Constant")
class Constant(Layer):
    """The ``value`` as it stands in the file: a number, True or False, a word, a list of such, or None. No inputs.

    Source: TorchScript.

    Raises
    ------
    ParameterError
        If the file gives none.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        if "value" not in op.params:
            raise ParameterError(op.where, "a parameter 'value'", f"parameters: {', '.join(op.params) or 'none'}")
        value = op.params["value"].value
        self.value = SPELLED_FLOATS.get(value, value) if isinstance(value, str) else value

    def forward(self) -> Any:
        return self.value
