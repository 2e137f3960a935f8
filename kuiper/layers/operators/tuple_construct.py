"""prim::TupleConstruct and prim::ListConstruct: several values become one."""

from __future__ import annotations

from typing import Any

from kuiper.layers.layer import Layer
from kuiper.layers.registry import register


@register("prim::TupleConstruct", "prim::ListConstruct")
class TupleConstruct(Layer):
    """The inputs, packed in a tuple; it may hold tuples itself.

    Source: TorchScript.
    """

    def forward(self, *inputs: Any) -> tuple[Any, ...]:
        return inputs
