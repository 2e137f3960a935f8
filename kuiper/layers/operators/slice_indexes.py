"""pnnx.SliceIndexes: the ``starts`` or ``ends`` of a Tensor.slice some of which the graph computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ParameterError
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("pnnx.SliceIndexes")
class SliceIndexes(Layer):
    """The list ``indexes`` with each ``@k`` replaced by input ``k``: the text ``(@0,@1,0)`` becomes ``[3, 5, 0]``.

    Raises
    ------
    ParameterError
        If an entry is neither an integer nor an input.
    """

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        text = op.str_param("indexes").strip("()[] ")
        self.entries = [self.parsed(entry.strip()) for entry in text.split(",")]

    def forward(self, *inputs: Any) -> list[int]:
        return [int(np.asarray(inputs[n]).item()) if is_input else n for is_input, n in self.entries]

    def parsed(self, entry: str) -> tuple[bool, int]:
        """Whether the entry stands for an input, and its number."""
        is_input = entry.startswith("@")
        try:
            number = int(entry.removeprefix("@"))
        except ValueError:
            raise ParameterError(self.op.where, "indexes of integers and @inputs", entry) from None
        if is_input and not 0 <= number < len(self.op.inputs):
            raise ParameterError(self.op.where, f"an input among {len(self.op.inputs)}", entry)
        return is_input, number
