"""kuiper.CachedAttention: two caches and the attention that reads them, as one operator with state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kuiper.layers.layer import Array, StatefulLayer
from kuiper.layers.operators.causal_attention import causal_attention, check_heads
from kuiper.layers.registry import register

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.state import OperatorState, Paging

PANEL = 16
"""Numbers side by side: a multiple of the floats of a vector register on every build."""

KEY_AXIS, VALUE_AXIS = 2, 3
"""Along which positions lie, of panels of keys and of values."""

LEAST = np.float32(1e-30)
"""A row in bytes whose numbers are all smaller is zeros: 127 divided by one of them might be no float."""


@register("kuiper.CachedAttention")
class CachedAttention(StatefulLayer):
    """Queries (b, h, s, d), keys and values (b, g, s, d) of a call -> (b, h, s, d): attention to the whole text.

    Both caches lie in panels of 16 numbers that are used together: number i of 16 keys, 16 numbers of one value.

    Source: made by the pass fuse_caches_into_attention.
    """

    data_inputs = ("query", "key", "value")

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.scale = op.float_param("scale", None)

    def forward(self, query: Array, key: Array, value: Array, state: OperatorState) -> Array:
        check_heads(query.shape, key.shape, value.shape, self.op.where)
        self.expect(key.shape[2] == query.shape[2], f"keys of {query.shape[2]} positions", key.shape)
        if state.paging is not None:
            return self._in_pages(query, key, value, state, state.paging)
        b, g, s, d = key.shape
        start, end = state.length, state.length + s
        self.expect(end <= state.max_length, f"at most {state.max_length} positions", end)
        panels = state.array("keys", key_shape(b, g, d, state.max_length), KEY_AXIS)
        columns = state.array("values", value_shape(b, g, d, state.max_length), VALUE_AXIS)
        at = np.arange(start, end)
        panels[:, :, at // PANEL, :, at % PANEL] = np.moveaxis(key, 2, 0)
        for first in range(0, d, PANEL):
            part = value[..., first : first + PANEL]
            columns[:, :, first // PANEL, start:end, : part.shape[-1]] = part
        keys = np.moveaxis(panels, 3, 4).reshape(b, g, -1, d)[:, :, :end]
        values = np.moveaxis(columns, 2, 3).reshape(b, g, state.max_length, -1)[:, :, :end, :d]
        return causal_attention(query, keys, values, self.scale, self.op.where)

    def _in_pages(self, query: Array, key: Array, value: Array, state: OperatorState, paging: Paging) -> Array:
        """The same where the rows (1, h, s, d) are tokens of many texts, whose keys and values lie in pages."""
        size, pages = paging.page_size, paging.pages
        self.expect(len(query) == 1, "rows of texts in pages as (1, h, s, d)", query.shape)
        _, g, s, d = key.shape
        in_bytes, dtype = paging.bits == 8, np.int8 if paging.bits == 8 else np.float32
        panels = state.array("keys", key_shape(pages, g, d, size), dtype=dtype)
        columns = state.array("values", value_shape(pages, g, d, size), dtype=dtype)
        if in_bytes:
            key_scales, value_scales = (state.array(name, (pages, g, size)) for name in ("key_scales", "value_scales"))
            (key, key_scale), (value, value_scale) = bytes_of(key), bytes_of(value)
        positions, texts, tables = (state.integers(name) for name in ("positions", "texts", "tables"))
        rows = np.flatnonzero(texts[:s] >= 0)
        for row in rows:
            page, at = tables[texts[row], positions[row] // size], positions[row] % size
            panels[page, :, at // PANEL, :, at % PANEL] = key[0, :, row]
            for first in range(0, d, PANEL):
                columns[page, :, first // PANEL, at, : min(PANEL, d - first)] = value[0, :, row, first : first + PANEL]
            if in_bytes:
                key_scales[page, :, at], value_scales[page, :, at] = key_scale[0, :, row], value_scale[0, :, row]
        keys = np.moveaxis(panels, 3, 4).reshape(pages, g, -1, d)
        values = np.moveaxis(columns, 2, 3).reshape(pages, g, size, -1)
        if in_bytes:
            keys, values = keys * key_scales[..., None], values * value_scales[..., None]
        out = np.zeros_like(query)
        for row in rows:
            end = positions[row] + 1
            used = tables[texts[row], : -(-end // size)]
            k, v = (np.concatenate(x[used], axis=1)[None, :, :end, :d] for x in (keys, values))
            out[:, :, row : row + 1] = causal_attention(query[:, :, row : row + 1], k, v, self.scale, self.op.where)
        return out

    def flops(self, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]) -> int:
        return math.prod(outputs[0][:-1]) * inputs[1][-2] * (4 * inputs[0][-1] + 5)


def bytes_of(x: Array) -> tuple[Array, Array]:
    """Rows (..., d) as int8 (..., d), and what one step is worth in each (...): 127 of them are its largest number.

    A row of almost nothing is zeros; the step of one with NaN or infinity is no number, as then its products are not.

    >>> rows, scales = bytes_of(np.float32([[1, -2], [0, 0]]))
    >>> rows.tolist(), scales.tolist()
    ([[64, -127], [0, 0]], [0.015748031437397003, 0.0])
    """
    largest = np.abs(x).max(axis=-1)
    scales = np.where(largest < LEAST, np.float32(0), largest / np.float32(127))
    steps = np.float32(127) / np.where(np.isfinite(scales) & (scales > 0), largest, np.float32(np.inf))
    whole = np.where(steps[..., None] > 0, np.rint(x * steps[..., None]), np.float32(0))
    return whole.astype(np.int8), scales


def key_shape(b: int, g: int, d: int, max_length: int) -> tuple[int, ...]:
    """Of the panels of keys.

    >>> key_shape(1, 2, 64, 100)
    (1, 2, 7, 64, 16)
    """
    return (b, g, -(-max_length // PANEL), d, PANEL)


def value_shape(b: int, g: int, d: int, max_length: int) -> tuple[int, ...]:
    """Of the panels of values: this many numbers of all positions, then the next.

    >>> value_shape(1, 2, 24, 100)
    (1, 2, 2, 100, 16)
    """
    return (b, g, -(-d // PANEL), max_length, PANEL)
