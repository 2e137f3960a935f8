"""topk, max and min with their places, argmax and argmin: one step over rows of numbers that are side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import Declined, axis_of, decline_if
from kuiper.engine.kernels.ranking import Ranking
from kuiper.engine.lowering.placement import copy_between
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, Value, as_pixels
from kuiper.layers.operators.argmax import Argmax
from kuiper.layers.operators.max import Max
from kuiper.layers.operators.topk import TopK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder


@lowers(TopK)
def lower_topk(layer: TopK, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.topk."""
    return _ranked(layer.dim, layer.k, layer.largest, False, inputs[0], builder)


@lowers(Max)
def lower_max(layer: Max, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.max and torch.min along an axis, with or without the places."""
    dim: int | None = layer.dim
    if dim is None:
        raise Declined
    ranked = _ranked(dim, 1, layer.largest, True, inputs[0], builder)
    return [_without(value, dim, layer.keepdim) for value in ranked]


@lowers(Argmax)
def lower_argmax(layer: Argmax, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.argmax and torch.argmin along an axis."""
    decline_if(len(layer.dims) != 1 or layer.dtype is not None)
    (dim,) = layer.dims
    ranked = _ranked(dim, 1, layer.op.type.endswith("argmax"), True, inputs[0], builder, wants_values=False)
    return [_without(ranked[1], dim, layer.keepdim)]


def _without(value: Value, dim: int, keepdim: bool) -> Value:
    return value if keepdim else Value(value.buffer, value.view.squeeze(dim))


def _ranked(
    dim: int, k: int, largest: bool, single: bool, value: AnyValue, builder: Builder, wants_values: bool = True
) -> list[Value]:
    """The ``k`` largest or smallest numbers along ``dim`` and where they are, or as many of both as are asked for."""
    x = builder.on_arena(value)
    decline_if(not 0 < k <= x.shape[axis_of(dim, x.view.ndim)])
    rows = _rows(builder, Value(x.buffer, np.moveaxis(x.view, dim, -1)))
    pixels = as_pixels(rows)
    assert pixels is not None
    assert builder.op is not None
    shape = (*rows.shape[:-1], k)
    values = builder.rows(shape, fixed=True, padded=False)
    indices = builder.typed(shape, np.dtype(np.int64))
    count, in_row = rows.shape[-1], pixels.strides[3]

    def make() -> Ranking:
        return Ranking({
            "rows": pixels.shape[3], "count": count, "k": k, "source": rows.offset, "in_row": in_row,
            "values": values.offset if wants_values else -1, "values_row": k, "indices": indices.offset,
            "largest": largest, "single": single,
        })  # fmt: skip

    builder.emit(
        f"{'largest' if largest else 'smallest'} {k} of {count}",
        make,
        reads=[rows],
        writes=[values, indices] if wants_values else [indices],
    )
    made = [Value(each.buffer, np.moveaxis(each.view, -1, dim)) for each in (values, indices)]
    return made[:1] if wants_values and len(builder.op.outputs) == 1 else made


def _rows(builder: Builder, x: Value) -> Value:
    """``x`` with the numbers of its last axis side by side and its rows evenly apart: itself, or a copy."""
    if as_pixels(x) is not None:
        return x
    copied = builder.rows(x.shape, fixed=True, padded=False)
    copy_between(builder, x, copied)
    return copied
