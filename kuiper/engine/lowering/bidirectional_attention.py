"""Attention of every token to its whole text: one step, whose rows may be tokens of several texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.bidirectional_attention import AttendInTexts
from kuiper.engine.lowering.cached_attention import heads_at
from kuiper.engine.lowering.matmul import panel_vectors
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import dense
from kuiper.engine.values import Value
from kuiper.layers.operators.bidirectional_attention import BidirectionalAttention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.values import AnyValue


@lowers(BidirectionalAttention)
def lower_bidirectional_attention(
    layer: BidirectionalAttention, inputs: list[AnyValue], builder: Builder
) -> Sequence[AnyValue]:
    """kuiper.BidirectionalAttention."""
    values = [builder.on_arena(value) for value in inputs]
    decline_if(any(value.view.ndim != 4 or value.shape != values[0].shape for value in values))
    q, k, v = (value if value.strides[3] == 1 else dense(builder, value) for value in values)
    matrices, heads, count, numbers = q.shape
    decline_if(builder.paging is not None and matrices != 1)
    texts = [builder.session_integers("texts")] if builder.paging is not None else []
    whole = builder.rows((matrices, count, heads, numbers), fixed=True, padded=False)
    out = Value(whole.buffer, whole.view.transpose(0, 2, 1, 3))
    scale = 1 / math.sqrt(numbers) if layer.scale is None else layer.scale
    machine = builder.machine
    panels = panel_vectors(machine, count, numbers, count), panel_vectors(machine, count, count, numbers)
    geometry = {
        "texts": texts[0][0] if texts else -1, "matrices": matrices, "heads": heads, "count": count, "numbers": numbers,
    }  # fmt: skip
    builder.emit(
        "attention in texts",
        lambda: AttendInTexts(geometry, heads_at(q), heads_at(k), heads_at(v), heads_at(out), scale, panels),
        reads=[q, k, v],
        writes=[out],
        flops=4 * q.view.size * count,
        bindings=texts,
    )
    return [out]
