"""kuiper.Cache: the rows of this call behind those of all calls before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import GraphStateError
from kuiper.layers.layer import Array, StatefulLayer
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.state import OperatorState


@register("kuiper.Cache")
class Cache(StatefulLayer):
    """Keys or values (b, h, s, d) of a call -> (b, h, length + s, d), those of the whole text.

    They are written to memory that lives from call to call, at the place where the text has got to. What is returned is
    a view of it.

    Source: R. Pope et al., "Efficiently Scaling Transformer Inference", 2022 (the key/value cache).
    """

    def forward(self, x: Array, state: OperatorState) -> Array:
        self.expect_rank(x, (4,), "(b, h, s, d)")
        b, h, s, d = x.shape
        if state.paging is not None:
            hint = "build the graph with optimize=True"
            raise GraphStateError(self.op.where, "one text, or kuiper.CachedAttention", "texts in pages", hint=hint)
        end = state.length + s
        self.expect(end <= state.max_length, f"at most {state.max_length} positions", end)
        rows = state.array("rows", (b, h, state.max_length, d), axis=2)
        rows[:, :, state.length : end] = x
        return rows[:, :, :end]
