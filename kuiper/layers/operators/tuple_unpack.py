"""prim::TupleUnpack and prim::ListUnpack: one value becomes several."""

from __future__ import annotations

from typing import Any

from kuiper.errors import DataTypeError
from kuiper.layers.layer import Layer
from kuiper.layers.registry import register


@register("prim::TupleUnpack", "prim::ListUnpack")
class TupleUnpack(Layer):
    """One output for each entry of the tuple.

    Source: TorchScript.
    """

    def forward(self, packed: Any) -> Any:
        if not isinstance(packed, (tuple, list)):
            raise DataTypeError(self.op.where, "a tuple or a list", type(packed).__name__)
        self.expect(len(packed) == len(self.op.outputs), f"{len(self.op.outputs)} entries", len(packed))
        return packed[0] if len(packed) == 1 else tuple(packed)
