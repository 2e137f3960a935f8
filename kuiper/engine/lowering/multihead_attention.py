"""nn.MultiheadAttention: projections of all heads at once, attention on views of them, a projection of what comes out.

    query, key, value     q | k | v          heads                    mixed
       (n, l, c)  ---->  (n, l, 3 c)  seen as  3 x (n, heads, l, d) ---->  (n, l, c) ---->  (n, l, c)

What is the same input for two or all three, as in self-attention, is read once. With the batch second, (l, n, c), only
strides are others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.lowering.attention import constant_mask, emit_attention
from kuiper.engine.lowering.matmul import emit_product
from kuiper.engine.lowering.projection import emit_projection
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.layers.operators.multihead_attention import MultiheadAttention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.layers.layer import Array


@lowers(MultiheadAttention)
def lower_multihead_attention(
    layer: MultiheadAttention, inputs: list[AnyValue], builder: Builder
) -> Sequence[AnyValue]:
    """nn.MultiheadAttention with a constant mask or none, and its averaged weights if they are asked for."""
    decline_if(layer.in_tuple)
    qkv = _query_key_value(layer, inputs, builder)
    mask = _mask(layer, inputs[-1], qkv) if layer.has_mask else None
    decline_if(layer.has_mask and mask is None)
    q, k, v = (Value(x.buffer, _heads(layer, x.view)) for x in _projected(layer, builder, qkv))
    mixed = builder.rows((*qkv[0].shape[:-1], len(layer.output_bias)), fixed=True)
    as_heads = Value(mixed.buffer, _heads(layer, mixed.view))
    wants_weights = len(layer.op.outputs) == 2
    scores = emit_attention(builder, (q, k, v), as_heads, mask, in_one=wants_weights)
    average = [_average(builder, scores, qkv[0].view.ndim)] if wants_weights else []
    out = builder.rows(mixed.shape)
    emit_projection(builder, mixed, out, layer.op.attr("out_proj.weight"), layer.output_bias, "out")
    return [out, *average]


def _query_key_value(layer: MultiheadAttention, inputs: list[AnyValue], builder: Builder) -> tuple[Value, Value, Value]:
    """The three inputs, if they fit together; the layer says why if not."""
    given = [builder.on_arena(value) for value in inputs[: len(inputs) - layer.has_mask]]
    q, k, v = given[0], given[min(1, len(given) - 1)], given[-1]
    decline_if(len({x.view.ndim for x in (q, k, v)}) > 1 or q.view.ndim not in (2, 3))
    (n, _, q_size), (k_n, k_length, k_size), (v_n, v_length, v_size) = (
        _batched(layer, x.view).shape for x in (q, k, v)
    )
    sizes = [weight.shape[1] for weight in _input_weights(layer)]
    decline_if(not n == k_n == v_n or k_length != v_length or [q_size, k_size, v_size] != sizes)
    return q, k, v


def _input_weights(layer: MultiheadAttention) -> list[Array]:
    """Of query, key and value: (embed_dim, size of each)."""
    if "in_proj_weight" in layer.op.attrs:
        return np.split(layer.op.attr("in_proj_weight"), 3)
    return [layer.op.attr(f"{letter}_proj_weight") for letter in "qkv"]


def _projected(layer: MultiheadAttention, builder: Builder, qkv: tuple[Value, Value, Value]) -> list[Value]:
    """The projections; neighbours of the same input are parts of one product."""
    weights, width = _input_weights(layer), len(layer.output_bias)
    biases = [bias for _, bias in layer.projections]
    results: list[Value] = []
    while len(results) < 3:
        first, x = len(results), qkv[len(results)]
        count = next((i for i, other in enumerate(qkv[first:]) if other is not x), 3 - first)
        weight, bias = (np.concatenate(parts[first : first + count]) for parts in (weights, biases))
        joined = builder.rows((*x.shape[:-1], count * width), fixed=True)
        emit_projection(builder, x, joined, weight, bias, f"in {first}")
        results += [Value(joined.buffer, part) for part in np.split(joined.view, count, axis=-1)]
    return results


def _batched(layer: MultiheadAttention, view: Array) -> Array:
    """(n, l, c), whichever the layout: a view."""
    if view.ndim == 2:
        return view[None]
    return view if layer.batch_first else view.swapaxes(0, 1)


def _heads(layer: MultiheadAttention, view: Array) -> Array:
    """(n, heads, l, c / heads): a view."""
    batched = _batched(layer, view)
    heads: Array = batched.reshape(*batched.shape[:2], layer.heads, -1).swapaxes(1, 2)
    return heads


def _mask(layer: MultiheadAttention, value: AnyValue, qkv: tuple[Value, Value, Value]) -> Array | None:
    """What is added to the scores: a mask of bools says here what is hidden; three axes are (n * heads, l, s)."""
    if not isinstance(value, PythonValue) or not isinstance(value.example, np.ndarray):
        return None
    mask = ~value.example if value.example.dtype == np.bool_ else value.example
    if mask.ndim == 3 and len(mask) % layer.heads == 0:
        mask = mask.reshape(-1, layer.heads, *mask.shape[1:])
    (n, length, _), (_, key_length, _) = (_batched(layer, x.view).shape for x in qkv[:2])
    shown = PythonValue(value.slot, mask, value.constant)
    return constant_mask(shown, (n, layer.heads, length, key_length))


def _average(builder: Builder, weights: Value, ndim: int) -> Value:
    """The mean of (n, heads, l, s) over the heads: ones (1, heads), times a matrix with a row for each head."""
    n, heads, length, columns = weights.shape
    width = weights.strides[-2]
    memory = builder.scratch(n * length * width)
    joined = memory.view.reshape(n, 1, length * width)
    rows = weights.buffer.placeholder[: n * heads * length * width].reshape(n, heads, length * width)
    ones = builder.constant(np.ones((1, heads), np.float32))
    emit_product(builder, ones, Value(weights.buffer, rows), Value(memory.buffer, joined), 1 / heads)
    average = memory.view.reshape(n, length, width)[..., :columns]
    return Value(memory.buffer, average if ndim == 3 else average[0])
