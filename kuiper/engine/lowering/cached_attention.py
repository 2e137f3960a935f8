"""Attention to all that a session has seen: what is new goes to the caches, then the queries read them.

Of a few tokens that is one step: the task of a group of heads appends to the caches that nobody else reads. Many tokens
are several tasks for each group, which must find the caches filled. Where many texts share pages, appending is a step
of its own, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import decline_if
from kuiper.engine.kernels.cached_attention import Append, Attend, is_one_task
from kuiper.engine.kernels.paged_attention import AppendToPages, AttendToPages
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.transfers import dense
from kuiper.engine.values import Value
from kuiper.layers.fused.cached_attention import KEY_AXIS, VALUE_AXIS, CachedAttention, key_shape, value_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder
    from kuiper.engine.kernels.cached_attention import Place
    from kuiper.engine.values import AnyValue
    from kuiper.graph.state import Paging


@lowers(CachedAttention)
def lower_cached_attention(layer: CachedAttention, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """kuiper.CachedAttention."""
    values = [builder.on_arena(value) for value in inputs]
    decline_if(any(value.view.ndim != 4 for value in values))
    q, k, v = (value if value.strides[3] == 1 else dense(builder, value) for value in values)
    (texts, heads, count, numbers), (_, groups, _, _) = q.shape, k.shape
    decline_if(k.shape != v.shape or k.shape != (texts, groups, count, numbers) or heads % groups)
    if builder.paging is not None:
        decline_if(texts != 1)
        return _in_pages(builder, layer, builder.paging, (q, k, v))
    capacity = builder.max_length
    position = builder.session_integers("position")
    keys = builder.session_array("keys", key_shape(texts, groups, numbers, capacity), KEY_AXIS)
    rows = builder.session_array("values", value_shape(texts, groups, numbers, capacity), VALUE_AXIS)
    bindings = (position, keys, rows)
    caches = {
        "position": position[0], "keys": keys[0], "values": rows[0],
        "texts": texts, "groups": groups, "count": count, "numbers": numbers, "capacity": capacity,
    }  # fmt: skip
    in_one = is_one_task(count, heads // groups)

    def append() -> Append:
        return Append(caches, heads_at(k), heads_at(v))

    if not in_one:
        builder.emit("append to the caches", append, reads=[k, v], bindings=bindings)
    whole = builder.rows((texts, count, heads, numbers), fixed=True, padded=False)
    out = Value(whole.buffer, whole.view.transpose(0, 2, 1, 3))
    scale = 1 / math.sqrt(numbers) if layer.scale is None else layer.scale
    products = 2 * q.view.size * capacity
    algorithm = "append, attention to the caches" if in_one else "attention to the caches"
    builder.emit(
        f"{algorithm}, {heads // groups} heads for each" if heads > groups else algorithm,
        lambda: Attend(caches, heads_at(q), heads_at(out), heads // groups, scale, append() if in_one else None),
        reads=[q, k, v] if in_one else [q],
        writes=[out],
        flops=2 * products,
        bindings=bindings,
    )
    return [out]


def _in_pages(
    builder: Builder, layer: CachedAttention, paging: Paging, values: tuple[Value, Value, Value]
) -> Sequence[AnyValue]:
    """The same where the rows are tokens of many texts, whose keys and values lie in pages."""
    q, k, v = values
    (_, heads, count, numbers), (_, groups, _, _) = q.shape, k.shape
    size, in_bytes = paging.page_size, paging.bits == 8
    dtype = np.int8 if in_bytes else np.float32
    bindings = {
        "keys": builder.session_array("keys", key_shape(paging.pages, groups, numbers, size), dtype=dtype),
        "values": builder.session_array("values", value_shape(paging.pages, groups, numbers, size), dtype=dtype),
        **{name: builder.session_integers(name) for name in ("positions", "texts", "tables")},
    }
    if in_bytes:
        for name in ("key_scales", "value_scales"):
            bindings[name] = builder.session_array(name, (paging.pages, groups, size))
    pages = {"key_scales": -1, "value_scales": -1} | {name: number for name, (number, _) in bindings.items()} | {
        "groups": groups, "numbers": numbers, "count": count, "in_bytes": in_bytes,
        "page_size": size, "pages_per_text": paging.pages_per_text,
    }  # fmt: skip
    outside = tuple(bindings.values())
    builder.emit(
        "append to pages",
        lambda: AppendToPages(pages, heads_at(k), heads_at(v)),
        reads=[k, v],
        bindings=outside,
    )
    whole = builder.rows((1, count, heads, numbers), fixed=True, padded=False)
    out = Value(whole.buffer, whole.view.transpose(0, 2, 1, 3))
    scale = 1 / math.sqrt(numbers) if layer.scale is None else layer.scale
    builder.emit(
        "attention to pages of bytes" if in_bytes else "attention to pages",
        lambda: AttendToPages(pages, heads_at(q), heads_at(out), heads // groups, scale),
        reads=[q],
        writes=[out],
        flops=4 * q.view.size * builder.max_length,
        bindings=outside,
    )
    return [out]


def heads_at(value: Value) -> Place:
    """Where it lies: offset and strides along texts, heads and positions."""
    text, head, position, _ = value.strides
    return value.offset, text, head, position
