"""Attention: the scores of queries and keys, their softmax, and the mixture of values, block by block.

    scores = scale * q @ k^T + mask       (..., l, s)
    out = softmax(scores) @ v             (..., l, d)

The scores of all heads together may be much more than a cache holds, and nobody wants them afterwards. A row of them
needs no other. So they are made for some images, some heads of one image, or some rows of one head at a time, in the
same memory:

    +----+----+----+----+
    | h0 | h1 | h2 | h3 |  the scores of h0 and h1, their softmax, their mixtures; then those of h2 and h3
    +----+----+----+----+
     '- block -'

Source: A. Vaswani et al., "Attention Is All You Need", 2017; T. Dao et al., "FlashAttention", 2022 (what it costs to
take scores through far memory).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.engine.cost import second_level_floats
from kuiper.engine.declined import decline_if
from kuiper.engine.expression_code import Code
from kuiper.engine.kernels.convolution import LANES
from kuiper.engine.lowering.elementwise import emit_elementwise
from kuiper.engine.lowering.integers import emit_choice
from kuiper.engine.lowering.matmul import emit_product, memory_of_product, product_shape
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.lowering.softmax import emit_softmax
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.values import AnyValue, PythonValue, Value, whole_vectors
from kuiper.layers.fused.attention import FusedAttention
from kuiper.layers.operators.scaled_dot_product_attention import ScaledDotProductAttention

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array

# Second-level caches that a block of scores would fill, and rows for which it is worth packing all keys and values.
_CACHES = 4
_MIN_ROWS = 64

# Rows this many floats apart begin in the same few sets of the first-level cache.
_SAME_SETS = 256

_ADD = Code((("load", 0, 0), ("load", 1, 0), ("add", 0, 0)), (0, 1))


@lowers(ScaledDotProductAttention)
def lower_attention(layer: Any, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """F.scaled_dot_product_attention with a mask, a causal one, or none."""
    given = [value for value in inputs[3:] if not _is_none(value)]
    decline_if(layer.is_causal and given)
    return lower_masked(inputs[:3], given, builder, layer.scale, layer.is_causal)


@lowers(FusedAttention)
def lower_fused(layer: FusedAttention, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """kuiper.FusedAttention, whose ``fill`` is as good as added: see the pass that makes it."""
    key = builder.on_arena(inputs[1])
    decline_if(key.view.ndim < 2)
    plain = Value(key.buffer, key.view.swapaxes(-1, -2)) if layer.keys_turned else key
    given = inputs[3:]
    if layer.fills:
        given = [_filled(builder, value, layer.fill, layer.fill_where) for value in given]
    return lower_masked([inputs[0], plain, inputs[2]], given, builder, layer.scale, zeros=layer.zeros)


def _filled(builder: Builder, condition: AnyValue, fill: np.float32, where: bool) -> Value:
    """``fill`` where bools are as ``where`` says, 0 elsewhere; made once for all who ask."""
    mask = builder.tensor(condition)
    decline_if(mask.view.dtype != np.bool_ or not mask.view.ndim)
    numbers = (fill, np.float32(0)) if where else (np.float32(0), fill)
    return builder.in_form(mask, ("filled", float(fill), where), lambda: emit_choice(builder, mask, *numbers))


def lower_masked(
    qkv: list[AnyValue],
    given: list[AnyValue],
    builder: Builder,
    scale: float | None,
    causal: bool = False,
    zeros: bool = True,
) -> Sequence[AnyValue]:
    """Attention with a mask that is given, the causal one, or none; ``zeros`` for a query that sees nothing, or NaN."""
    q, k, v = (builder.on_arena(value) for value in qkv)
    shape = scores_shape(q.shape, k.shape, v.shape)
    mask: Array | Value | None = None
    if causal:
        mask = _added(np.tri(*shape[-2:], dtype=np.bool_))
    elif given:
        mask = constant_mask(given[0], shape)
        if mask is None:
            mask = _computed_mask(builder, given[0], shape)
    if isinstance(mask, np.ndarray) and not mask.any():
        mask = None  # of zeros
    out = memory_of_product(builder, (*shape[:-1], v.shape[-1]))
    emit_attention(builder, (q, k, v), out, mask, scale, zeros=zeros and isinstance(mask, Value))
    return [out]


def _computed_mask(builder: Builder, value: AnyValue, shape: tuple[int, ...]) -> Value:
    """A mask that the graph computes as what is added to scores of this shape."""
    example = value.view if isinstance(value, Value) else value.example
    decline_if(not isinstance(example, np.ndarray) or example.ndim == 0 or not _broadcasts(example.shape, shape))
    if example.dtype == np.bool_:
        return emit_choice(builder, value, np.float32(0), np.float32(-np.inf))
    return builder.on_arena(value)


def scores_shape(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...]) -> tuple[int, ...]:
    """(..., l, s) for queries (..., l, e), keys (..., s, e) and values (..., s, d); declines if they do not fit."""
    decline_if(not 2 <= min(len(q), len(k), len(v)) <= max(len(q), len(k), len(v)) <= MAX_NDIM)
    shape = product_shape(q, (*k[:-2], k[-1], k[-2]))
    decline_if(v[-2] != shape[-1] or not _broadcasts(v[:-2], shape[:-2]))
    return shape


def _is_none(value: AnyValue) -> bool:
    """Whether it is the None that stands for no mask at low optlevels."""
    return isinstance(value, PythonValue) and value.constant and value.example is None


def constant_mask(value: AnyValue, shape: tuple[int, ...]) -> Array | None:
    """A mask of bools (True: shown) or floats as what is added to scores of this shape; None if it cannot be.

    A row that sees nothing gets zeros, not the NaN of a softmax: a mask that has such rows is left to the layer.
    """
    if not isinstance(value, PythonValue) or not value.constant or not isinstance(value.example, np.ndarray):
        return None
    mask = value.example
    if mask.dtype not in (np.bool_, np.float32) or not _broadcasts(mask.shape, shape):
        return None
    added = _added(mask) if mask.dtype == np.bool_ else mask
    sees_none = np.all(np.isneginf(np.broadcast_to(added, (*mask.shape[:-1], shape[-1]))), axis=-1)
    return None if mask.ndim == 0 or sees_none.any() else added


def _added(shown: Array) -> Array:
    added: Array = np.where(shown, np.float32(0), np.float32(-np.inf))
    return added


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to the target's shape."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(size in (1, wanted) for size, wanted in pairs)


def emit_attention(
    builder: Builder,
    qkv: tuple[Value, Value, Value],
    out: Value,
    mask: Array | Value | None = None,
    scale: float | None = None,
    in_one: bool = False,
    zeros: bool = False,
) -> Value:
    """Add ``out = softmax(scale * q @ k^T + mask) @ v``; the result is the memory of the last block's softmax.

    ``in_one`` makes all scores one block. With ``zeros``, a query that sees nothing gets zeros instead of NaN.
    """
    q, k, v = qkv
    stack, columns = out.shape[:-2], k.shape[-2]
    shape = (*stack, q.shape[-2], columns)
    q, k, v = (Value(x.buffer, np.broadcast_to(x.view, (*stack, *x.shape[-2:]))) for x in (q, k, v))
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    added = builder.constant(mask) if isinstance(mask, np.ndarray) else mask
    parts = [(slice(None),)] if in_one else list(blocks(shape, _CACHES * second_level_floats(builder.machine)))
    width = _row_width(columns)
    memory = builder.scratch(max(q.view[part][..., 0].size for part in parts) * width)
    for part in parts:
        matrices = part[: len(stack)]
        rows = q.view[part]
        padded = memory.view[: rows[..., 0].size * width].reshape(*rows.shape[:-1], width)
        scores = Value(memory.buffer, padded[..., :columns])
        keys, values = k.view[matrices].swapaxes(-1, -2), v.view[matrices]
        emit_product(builder, Value(q.buffer, rows), Value(k.buffer, keys), scores, scale)
        if added is not None:
            own = Value(added.buffer, np.broadcast_to(added.view, shape)[part])
            emit_elementwise(builder, _ADD, [scores, own], scores)
        emit_softmax(builder, scores, scores, len(shape) - 1, zeros=zeros)
        emit_product(builder, scores, Value(v.buffer, values), Value(out.buffer, out.view[part]))
    return scores


def _row_width(columns: int) -> int:
    """From one row of scores to the next."""
    width = whole_vectors(columns)
    return width if width % _SAME_SETS else width + LANES


def blocks(shape: tuple[int, ...], most: int, axis: int = 0) -> Iterator[tuple[slice, ...]]:
    """Scores (..., rows, columns) in blocks of up to ``most`` neighbours: some matrices, or some rows of a large one.

    >>> list(blocks((1, 4, 512, 1024), 1 << 20))
    [(slice(0, 1, None), slice(0, 2, None)), (slice(0, 1, None), slice(2, 4, None))]
    >>> len(list(blocks((1, 2, 4096, 4096), 1 << 20)))
    32
    """
    each, is_row = math.prod(shape[axis + 1 :]), axis == len(shape) - 2
    if each > most and not is_row:
        for i in range(shape[axis]):
            yield from ((slice(i, i + 1), *rest) for rest in blocks(shape, most, axis + 1))
        return
    count = -(-shape[axis] // max(_MIN_ROWS if is_row else 1, most // each))
    for i in range(count):
        yield (slice(i * shape[axis] // count, (i + 1) * shape[axis] // count),)
