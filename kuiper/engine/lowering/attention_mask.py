"""onnxruntime's masks of keys as what is added to scores: made once for all attentions that ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.integers import emit_choice
from kuiper.engine.lowering.reduction import last_axis_sum
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.typed_numbers import emit_typed
from kuiper.engine.values import AnyValue, Value, is_known
from kuiper.layers.operators.onnx_contrib import MaskIndex
from kuiper.layers.operators.onnx_contrib_attention import AttentionMask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder

_EXACT = 1 << 24
"""Integers up to here are float32 numbers, too."""


@lowers(AttentionMask)
def lower_attention_mask(layer: AttentionMask, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """A mask (b, t) or (b, s, t) of integers, or (b,) of lengths, for queries that may look ahead."""
    decline_if(len(inputs) != 3 or layer.op.bool_param("unidirectional", False))
    query, key, given = inputs
    mask = builder.tensor(given)
    decline_if(mask.view.dtype.kind != "i" or is_known(given))
    b, s, t = query.shape[0], query.shape[-2], key.shape[-2]
    decline_if(mask.shape not in ((b,), (b, t), (b, s, t)))
    hidden = np.float32(layer.op.float_param("mask_filter_value", -10000.0))

    def made() -> Value:
        return emit_choice(builder, _shown(builder, mask, t), np.float32(0), hidden)

    added = builder.in_form(mask, ("shown keys", t, float(hidden)), made)
    rows = added.view[:, None] if mask.view.ndim == 3 else added.view[:, None, None]
    return [Value(added.buffer, np.broadcast_to(rows, (b, 1, s, t)))]


@lowers(MaskIndex)
def lower_mask_index(layer: MaskIndex, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """How many entries of each row are 1: a sum of floats, which are exact up to 2^24."""
    mask = builder.tensor(inputs[0])
    decline_if(mask.view.dtype.kind != "i" or mask.view.ndim != 2 or not layer.op.bool_param("is_mask", True))
    decline_if(mask.shape[1] > _EXACT)
    ones, numbers = builder.typed(mask.shape, np.dtype(np.bool_)), builder.rows(mask.shape, fixed=True, padded=False)
    emit_typed(builder, "eq", ones, [mask, builder.typed_constant(np.ones((), np.int64))])
    emit_typed(builder, "copy", numbers, [ones])
    count = last_axis_sum(builder, numbers)
    out = builder.typed(mask.shape[:1], np.dtype(np.int32))
    emit_typed(builder, "copy", out, [count])
    return [out]


def _shown(builder: Builder, mask: Value, t: int) -> Value:
    """Which of t keys a mask shows, (b, t) or (b, s, t)."""
    if mask.view.ndim == 1:
        operation, shape = "gt", (*mask.shape, t)
        operands = [Value(mask.buffer, mask.view[:, None]), builder.typed_constant(np.arange(t))]
    else:
        operation, shape = "gt", mask.shape
        operands = [mask, builder.typed_constant(np.zeros((), np.int64))]
    shown = builder.typed(shape, np.dtype(np.bool_))
    emit_typed(builder, operation, shown, operands)
    return shown
