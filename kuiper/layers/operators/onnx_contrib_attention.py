"""What onnxruntime's attentions have beside torch's: masks of several forms, turned pairs, grouped heads with a past.

Source: onnxruntime, ContribOperators.md, Attention, MultiHeadAttention, GroupQueryAttention, RotaryEmbedding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import DataTypeError, ParameterError, TensorIndexError
from kuiper.layers.layer import Array, Layer
from kuiper.layers.operators.matmul import matmul
from kuiper.layers.registry import register
from kuiper.tensor_limit import check_size

if TYPE_CHECKING:
    from kuiper.graph.runtime_operator import RuntimeOperator


@register("com.microsoft.AttentionMask")
class AttentionMask(Layer):
    """What is added to scores (b, h, s, t): ``mask_filter_value`` where a mask hides a key, float32.

    Inputs are queries (b, h, s, d), keys (b, h, t, d) and maybe a mask in one of onnxruntime's forms: (b, t), (b, s, t)
    or (b, 1, max, max) with 0 for what is hidden; (b,), the numbers of keys; (2 * b,), the ends and the starts of the
    keys. ``unidirectional`` hides from a query the keys behind it, the last query being the last key.

    Source: as the module.
    """

    data_inputs = None

    def forward(self, query: Array, key: Array, mask: Array | None = None) -> Array:
        b, s, t = len(query), query.shape[-2], key.shape[-2]
        check_size((b, s, t), 4, self.op.where)
        hidden = np.float32(self.op.float_param("mask_filter_value", -10000.0))
        added = np.zeros((b, 1, 1 if mask is None else s, t), np.float32)
        if mask is not None:
            added = np.where(self._shown(mask, (b, s, t)), np.float32(0), hidden)
        if self.op.bool_param("unidirectional", False):
            lowest = np.finfo(np.float32).min
            added = np.where(np.tri(s, t, t - s, dtype=np.bool_), added, lowest)
        return np.asarray(np.broadcast_to(added, (b, 1, s, t)), np.float32)

    def _shown(self, mask: Array, sizes: tuple[int, int, int]) -> Array:
        """Which keys a mask shows, (b, 1, s or 1, t)."""
        b, s, t = sizes
        place = np.arange(t)
        if mask.shape == (b,):
            return np.asarray(place < mask[:, None])[:, None, None]
        if mask.shape == (2 * b,):
            return ((place < mask[:b, None]) & (place >= mask[b:, None]))[:, None, None]
        if mask.shape == (b, t):
            return np.asarray(mask > 0)[:, None, None]
        if mask.shape == (b, s, t):
            return np.asarray(mask > 0)[:, None]
        fits = mask.ndim == 4 and mask.shape[:2] == (b, 1) and min(mask.shape[2:]) >= t >= s
        self.expect(fits, f"a mask ({b},), ({2 * b},), ({b}, {t}), ({b}, {s}, {t}) or ({b}, 1, max, max)", mask.shape)
        return np.asarray(mask[:, :, t - s : t, :t] > 0)


@register("com.microsoft.RotaryEmbedding")
class RotaryEmbedding(Layer):
    """Pairs of numbers turned by the angles of their positions, in (b, l, hidden) or (b, heads, l, d).

    ``position_ids`` are (b, l), or one number, the first position. The caches (positions, r) have cosines and sines.

    Source: as the module.
    """

    data_inputs = None

    def forward(self, x: Array, positions: Array, cosines: Array, sines: Array) -> Array:
        self.expect_rank(x, (3, 4), "(b, l, hidden) or (b, heads, l, d)")
        heads = x if x.ndim == 4 else self._in_heads(x, cosines)
        length = heads.shape[2]
        if positions.size == 1 and positions.ndim < 2:
            positions = np.broadcast_to(positions.reshape(1, 1) + np.arange(length), (len(x), length))
        self.expect(positions.shape == (len(x), length), f"position_ids ({len(x)}, {length})", positions.shape)
        angles = angles_of(positions, cosines, sines, self.op)
        turned = turned_pairs(heads, *angles, self.op.bool_param("interleaved", False), self.op)
        return np.asarray(turned if x.ndim == 4 else turned.swapaxes(1, 2).reshape(x.shape))

    def _in_heads(self, x: Array, cosines: Array) -> Array:
        """(b, l, hidden) as (b, heads, l, d)."""
        heads, width = self.op.int_param("num_heads", 0), 2 * cosines.shape[-1]
        if heads == 0:
            self.expect(width > 0 and x.shape[2] % width == 0, f"input (b, l, {width} * heads)", x.shape)
            heads = x.shape[2] // width
        self.expect(heads > 0 and x.shape[2] % heads == 0, f"input (b, l, hidden) for {heads} heads", x.shape)
        return np.asarray(x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2))


def angles_of(positions: Array, cosines: Array, sines: Array, op: RuntimeOperator) -> tuple[Array, Array]:
    """The rows of both caches for positions (b, l): (b, 1, l, r) each.

    Raises
    ------
    ParameterError
        If the caches do not fit each other.
    TensorIndexError
        If they do not have these positions.
    """
    if cosines.ndim != 2 or cosines.shape != sines.shape:
        raise ParameterError(op.where, "cos_cache and sin_cache (positions, r)", (cosines.shape, sines.shape))
    if positions.dtype.kind not in "iu":
        raise DataTypeError(op.where, "positions in integers", positions.dtype)
    if positions.size and not 0 <= positions.min() <= positions.max() < len(cosines):
        got = (int(positions.min()), int(positions.max()))
        raise TensorIndexError(op.where, f"positions within {len(cosines)}", got)
    return cosines[positions][:, None], sines[positions][:, None]


def turned_pairs(x: Array, cosines: Array, sines: Array, interleaved: bool, op: RuntimeOperator) -> Array:
    """Pairs of (b, heads, l, d) turned: neighbours, or a number of the first half of ``2 * r`` with one of the second.

    Raises
    ------
    ParameterError
        If a head has less than ``2 * r`` numbers.
    """
    r = cosines.shape[-1]
    if 2 * r > x.shape[-1]:
        raise ParameterError(op.where, f"caches for heads of {x.shape[-1]} numbers", cosines.shape)
    first, second = (x[..., 0 : 2 * r : 2], x[..., 1 : 2 * r : 2]) if interleaved else (x[..., :r], x[..., r : 2 * r])
    pairs = (first * cosines - second * sines, second * cosines + first * sines)
    joined = np.stack(pairs, -1).reshape(*x.shape[:-1], 2 * r) if interleaved else np.concatenate(pairs, -1)
    return np.concatenate([joined, x[..., 2 * r :]], axis=-1)


@register("GroupQueryAttention")
class GroupQueryAttention(Layer):
    """Attention of groups of heads of queries to one head of keys each, with the keys and values of earlier calls.

    query (b, s, heads * d), key and value (b, s, kv_heads * d), or all three side by side as query; past_key and
    past_value (b, kv_heads, p, d). seqlens_k (b,) are the numbers of keys less one, after this call. The outputs are
    (b, s, heads * d) and the present keys and values (b, kv_heads, t, d), those of a sequence from the first place on.

    Source: as the module.
    """

    data_inputs = None

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.heads, self.kv_heads = op.int_param("num_heads"), op.int_param("kv_num_heads")
        if min(self.heads, self.kv_heads) < 1 or self.heads % self.kv_heads:
            raise ParameterError(op.where, "num_heads that is a multiple of kv_num_heads", (self.heads, self.kv_heads))
        self.scale = op.float_param("scale", 0.0)
        self.softcap = op.float_param("softcap", 0.0)
        self.window = op.int_param("local_window_size", -1)

    def forward(self, *inputs: Any) -> tuple[Array, Array, Array]:
        given = dict(zip(self.op.input_names, map(np.asarray, inputs), strict=True))
        q, k, v = self.heads_of(given)
        b, _, s, d = q.shape
        totals, total = given["seqlens_k"].reshape(-1).astype(np.int64) + 1, given["total_sequence_length"].ravel()
        self.expect(totals.shape == (b,) and total.size == 1, f"seqlens_k ({b},) and one total", totals.shape)
        past = [given.get(name, k[:, :, :0]) for name in ("past_key", "past_value")]
        room = past[0].shape[2:3]
        for one in past:
            self.expect(one.shape == (b, self.kv_heads, *room, d), f"a past ({b}, {self.kv_heads}, p, {d})", one.shape)
        longest = int(total[0]) or room[0] + s  # 0 stands in for what only a run tells
        starts = np.zeros(b, np.int64) if longest == s else np.maximum(totals - s, 0)
        size = max(longest, *room)
        check_size((b, self.kv_heads, size, d), 4, self.op.where)
        fits = starts.max(initial=0) <= room[0] and starts.max(initial=0) + s <= size
        self.expect(bool(fits), f"at most {size} keys, of which {room[0]} are past", totals)
        if self.op.bool_param("do_rotary", False):
            q, k = self._turned(q, k, starts, given)
        keys, values = (self._joined(old, new, starts, size) for old, new in zip(past, (k, v), strict=True))
        mixed = self._attention(q, keys, values, starts, given)
        return mixed.swapaxes(1, 2).reshape(b, s, -1), keys, values

    def heads_of(self, given: dict[str, Array]) -> list[Array]:
        """Queries, keys and values, (b, heads, s, d), of "query", "key" and "value", or of "query" alone: views."""
        query, counts = given["query"], [self.heads, self.kv_heads, self.kv_heads]
        self.expect_rank(query, (3,), "query (b, s, hidden)")
        is_packed = "key" not in given
        d = query.shape[2] // (sum(counts) if is_packed else self.heads)
        self.expect(d > 0, f"query with numbers for {self.heads} heads", query.shape)
        cuts = [self.heads * d, (self.heads + self.kv_heads) * d]
        parts = np.split(query, cuts, axis=2) if is_packed else [query, given["key"], given["value"]]
        for part, count in zip(parts, counts, strict=True):
            self.expect(part.shape == (*query.shape[:2], count * d), f"{query.shape[:2]} times {count * d}", part.shape)
        return [
            part.reshape(*part.shape[:2], count, d).swapaxes(1, 2) for part, count in zip(parts, counts, strict=True)
        ]

    def _turned(self, q: Array, k: Array, starts: Array, given: dict[str, Array]) -> list[Array]:
        """Queries and keys at their positions."""
        self.expect({"cos_cache", "sin_cache"} <= given.keys(), "cos_cache and sin_cache", sorted(given))
        positions = given.get("position_ids", starts[:, None] + np.arange(q.shape[2]))
        self.expect(positions.shape == (len(q), q.shape[2]), f"position_ids {(len(q), q.shape[2])}", positions.shape)
        angles = angles_of(positions, given["cos_cache"], given["sin_cache"], self.op)
        interleaved = self.op.bool_param("rotary_interleaved", False)
        return [turned_pairs(x, *angles, interleaved, self.op) for x in (q, k)]

    def _joined(self, old: Array, new: Array, starts: Array, size: int) -> Array:
        """The past of each sequence up to its start, and what is new behind it."""
        joined = np.zeros((*new.shape[:2], size, new.shape[3]), np.float32)
        for row, (start, past, recent) in enumerate(zip(starts, old, new, strict=True)):
            joined[row, :, :start] = past[:, :start]
            joined[row, :, start : start + recent.shape[1]] = recent
        return joined

    def _attention(self, q: Array, keys: Array, values: Array, starts: Array, given: dict[str, Array]) -> Array:
        """softmax(q k^T) v with all that changes the scores."""
        b, _, s, d = q.shape
        scale = self.scale or 1 / math.sqrt(d)
        shared = self.heads // self.kv_heads
        grouped = q.reshape(b, self.kv_heads, shared * s, d) * np.float32(scale)
        scores = matmul(grouped, keys.swapaxes(-1, -2), self.op.where).reshape(b, self.heads, s, -1)
        if self.softcap > 0:
            scores = np.tanh(scores / np.float32(self.softcap)) * np.float32(self.softcap)
        if "attention_bias" in given:
            scores = scores + self._bias(given["attention_bias"], scores.shape)
        last = starts[:, None] + np.arange(s)
        place = np.arange(scores.shape[-1])
        shown = place <= last[..., None]
        if self.window > 0:
            shown &= place > last[..., None] - self.window
        weights = self._softmax(np.where(shown[:, None], scores, -np.float32(np.inf)), given)
        mixed = matmul(weights.reshape(b, self.kv_heads, shared * s, -1), values, self.op.where)
        return mixed.reshape(b, self.heads, s, d)

    def _bias(self, bias: Array, shape: tuple[int, ...]) -> Array:
        """What is added to scores, for as many keys as there is room for."""
        fits = bias.ndim == 4 and all(one in (1, other) for one, other in zip(bias.shape[:2], shape, strict=False))
        self.expect(fits and bias.shape[2] == shape[2], f"attention_bias {shape}", bias.shape)
        missing = shape[3] - bias.shape[3]
        self.expect(missing >= 0, f"attention_bias {shape}", bias.shape)
        return np.pad(bias, ((0, 0), (0, 0), (0, 0), (0, missing)))

    def _softmax(self, scores: Array, given: dict[str, Array]) -> Array:
        """The softmax, with one more score in the sum where the model has a sink for each head, or a smooth softmax."""
        sink = None
        if "head_sink" in given:
            self.expect(
                given["head_sink"].shape == (self.heads,), f"head_sink ({self.heads},)", given["head_sink"].shape
            )
            sink = given["head_sink"].reshape(-1, 1, 1)
        elif self.op.bool_param("smooth_softmax", False):
            sink = np.zeros((1, 1, 1), np.float32)
        highest = scores.max(-1, keepdims=True)
        highest = highest if sink is None else np.maximum(highest, sink)
        powers = np.exp(scores - highest)
        total = powers.sum(-1, keepdims=True)
        return np.asarray(powers / (total if sink is None else total + np.exp(sink - highest)), np.float32)
