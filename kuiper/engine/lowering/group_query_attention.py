"""GroupQueryAttention of onnxruntime: keys and values behind those that the caller has kept, and attention to all.

The past and the present are not copied onto the arena and back: steps read and write them where the caller has them.
How long texts are is read in each call. What the plan counts on, the size of the present, is seen in the first one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.kernels.group_query_attention import AttendPast, JoinPast
from kuiper.engine.kernels.typed import TYPES
from kuiper.engine.lowering.cached_attention import heads_at
from kuiper.engine.lowering.matmul import panel_vectors
from kuiper.engine.lowering.placement import as_rows
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.values import AnyValue, PythonValue, Value
from kuiper.errors import KuiperError
from kuiper.layers.operators.onnx_contrib_attention import GroupQueryAttention

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.engine.builder import Builder

    Binding = tuple[int, PythonValue]
    Inputs = dict[str, AnyValue]

_WHOLE = 16  # numbers: heads of so many are whole vectors on every machine
_RARE = {"position_ids", "attention_bias", "head_sink"}


@lowers(GroupQueryAttention, empty=True)
def lower_group_query_attention(
    layer: GroupQueryAttention, inputs: list[AnyValue], builder: Builder
) -> Sequence[AnyValue]:
    """GroupQueryAttention with a past from outside or none; of what changes scores, with a window alone."""
    given = dict(zip(layer.op.input_names, inputs, strict=True))
    decline_if(given.keys() & _RARE or layer.softcap > 0 or layer.op.bool_param("smooth_softmax", False))
    q, k, v = _heads(layer, given, builder)
    (texts, heads, count, numbers), groups = q.shape, layer.kv_heads
    past = _past(given, (texts, groups, numbers), builder)
    room = past[0][1].shape[2]
    total, size = _sizes(given["total_sequence_length"], room, count)
    present = [builder.outside((texts, groups, size, numbers)) for _ in range(2)]
    made = [builder.bind(value) for value in present]
    turning, tables = _turning(layer, given, numbers, builder)
    decline_if(size < count or (tables and tables[0][1].shape[0] < count))
    lengths, read = _lengths(given, texts, builder)

    def geometry() -> dict[str, int]:
        return {
            **lengths(), **turning, "known_total": total, "window": max(0, layer.window),
            "past_keys": past[0][0], "past_values": past[1][0], "keys": made[0][0], "values": made[1][0],
            "texts": texts, "groups": groups, "shared": heads // groups, "count": count, "numbers": numbers,
            "room": room, "size": size,
        }  # fmt: skip

    builder.emit(
        "join past and new",
        lambda: JoinPast(geometry(), heads_at(k), heads_at(v)),
        reads=[k, v, *read],
        bindings=[*past, *made, *tables],
        more_bytes=8 * texts * groups * (room + size) * numbers,
    )
    return [_emit_attention(builder, q, geometry, read, [*made, *tables], layer.scale), *present]


def _emit_attention(
    builder: Builder,
    q: Value,
    geometry: Callable[[], dict[str, int]],
    read: list[Value],
    bindings: list[Binding],
    scale: float,
) -> Value:
    """Add the attention of queries to the present; the result is (b, s, heads * d)."""
    texts, heads, count, numbers = q.shape
    _, groups, size, _ = bindings[0][1].shape
    whole = builder.rows((texts, count, heads * numbers), fixed=True)
    out = Value(whole.buffer, whole.view.reshape(texts, count, heads, numbers).swapaxes(1, 2))
    rows = heads // groups * count
    key_vectors = panel_vectors(builder.machine, rows, numbers, size)
    value_vectors = panel_vectors(builder.machine, rows, size, numbers)

    def make() -> AttendPast:
        places, factor = (heads_at(q), heads_at(out)), scale or 1 / math.sqrt(numbers)
        return AttendPast(geometry(), *places, factor, (key_vectors, value_vectors))

    builder.emit(
        f"attention behind a past, {heads // groups} heads for each",
        make,
        reads=[q, *read],
        writes=[out],
        bindings=bindings,
        flops=4 * q.view.size * size,
        more_bytes=8 * texts * groups * size * numbers,
    )
    return whole


def _heads(layer: GroupQueryAttention, given: Inputs, builder: Builder) -> list[Value]:
    """Queries, keys and values, (b, heads, s, d), the numbers of a head side by side."""
    names = [name for name in ("query", "key", "value") if name in given]
    decline_if(any(len(given[name].shape) != 3 for name in names))
    rows = {name: as_rows(builder, builder.on_arena(given[name])) for name in names}
    try:
        views = layer.heads_of({name: value.view for name, value in rows.items()})
    except KuiperError as error:
        raise Declined from error
    buffers = [rows[name].buffer for name in names] * (1 if len(names) > 1 else len(views))
    decline_if(views[0].shape[3] % _WHOLE)
    return [Value(buffer, view) for buffer, view in zip(buffers, views, strict=True)]


def _past(given: Inputs, sizes: tuple[int, int, int], builder: Builder) -> list[Binding]:
    """The keys and values that the caller has kept, where they lie; without any, an empty one for both."""
    texts, groups, numbers = sizes
    if "past_key" not in given:
        nothing = builder.python_value(np.zeros((texts, groups, 0, numbers), np.float32), constant=True)
        return [builder.bind(nothing)] * 2
    past = [_outside(given[name], builder) for name in ("past_key", "past_value")]
    shapes = {value.shape for _, value in past}
    decline_if(shapes != {(texts, groups, past[0][1].shape[2] if len(past[0][1].shape) == 4 else 0, numbers)})
    return past


def _outside(value: AnyValue, builder: Builder) -> Binding:
    """A float32 tensor that is not on the arena, where it lies."""
    if not isinstance(value, PythonValue) or getattr(value.example, "dtype", None) != np.float32:
        raise Declined
    return builder.bind(value)


def _sizes(total: AnyValue, room: int, count: int) -> tuple[int, int]:
    """The total, 0 if only a call tells it, and the size of the present in this call."""
    example = np.asarray(total.example if isinstance(total, PythonValue) else 0, np.int64).reshape(-1)
    decline_if(len(example) != 1)
    size = max(int(example[0]) or room + count, room)
    return int(example[0]) if isinstance(total, PythonValue) and total.constant else 0, size


def _turning(
    layer: GroupQueryAttention, given: Inputs, numbers: int, builder: Builder
) -> tuple[dict[str, int], list[Binding]]:
    """What the kernel must know of turned pairs, and the tables of cosines and sines."""
    if not layer.op.bool_param("do_rotary", False):
        return {"pairs": 0, "positions": 0, "cosines": 0, "sines": 0, "interleaved": 0}, []
    decline_if(not {"cos_cache", "sin_cache"} <= given.keys())
    tables = [_outside(given[name], builder) for name in ("cos_cache", "sin_cache")]
    shape = tables[0][1].shape
    decline_if(len(shape) != 2 or tables[1][1].shape != shape or not 0 < 2 * shape[1] <= numbers)
    interleaved = int(layer.op.bool_param("rotary_interleaved", False))
    return {
        "pairs": shape[1], "positions": shape[0], "cosines": tables[0][0], "sines": tables[1][0],
        "interleaved": interleaved,
    }, tables  # fmt: skip


def _lengths(given: Inputs, texts: int, builder: Builder) -> tuple[Callable[[], dict[str, int]], list[Value]]:
    """Where the kernel finds the lengths of texts, their total if only a call tells it, and its flag."""
    total, flag = given["total_sequence_length"], builder.shared_error_flag()
    numbers = [builder.tensor(given["seqlens_k"])]
    if not (isinstance(total, PythonValue) and total.constant):
        numbers.append(builder.tensor(total))
    lengths = numbers[0].view
    decline_if(any(value.view.dtype not in (np.int32, np.int64) for value in numbers) or lengths.size != texts)
    decline_if(not lengths.flags.c_contiguous)

    def fields() -> dict[str, int]:
        return {
            "lengths": numbers[0].byte_offset, "length_bytes": lengths.itemsize,
            "length_type": TYPES[lengths.dtype.name], "error_flag": flag.offset,
            "total": numbers[1].byte_offset if numbers[1:] else -1, "total_type": TYPES[numbers[-1].view.dtype.name],
        }  # fmt: skip

    return fields, [*numbers, Value(flag, flag.placeholder)]
