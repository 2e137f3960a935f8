"""The attentions of onnxruntime, in torch's terms but for what torch does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.errors import ParameterError
from kuiper.onnx.operators.contrib_nodes import as_standard, by_name, one
from kuiper.onnx.table import CONTRIB, operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_QKV = 3


class Heads(NamedTuple):
    """Queries (b, h, s, d), keys (b, h, t, d) and values (b, h, t, e)."""

    query: Value
    key: Value
    value: Value


@operator("Attention", domain=CONTRIB)
def attention(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """A projection to queries, keys and values, then their attention."""
    x, weights, heads = node.value(0), node.value(1), node.int("num_heads")
    if node.int("past_present_share_buffer", 0) or node.int("do_rotary", 0):
        raise node.unsupported("past_present_share_buffer=0 and do_rotary=0", "1")
    product = one(as_standard(node, build, "MatMul", x, weights))
    bias = node.optional(2)
    if bias is not None:
        product = build.expression("add(@0,@1)", product, bias)
    sizes = node.get("qkv_hidden_sizes")
    if sizes is None:
        parts = build.ops("torch.chunk", product, outputs=_QKV, params={"chunks": _QKV, "dim": -1})
    else:
        parts = build.ops("torch.split", product, outputs=_QKV, params={"split_size_or_sections": sizes, "dim": -1})
    found = Heads(*(in_heads(node, build, part, heads) for part in parts))
    past, present = node.optional(4), None
    if past is not None:
        old = build.ops("torch.unbind", past, outputs=2, params={"dim": 0})
        found = found._replace(key=_behind(build, old[0], found.key), value=_behind(build, old[1], found.value))
    if node.wants(1):
        present = build.op("torch.stack", found.key, found.value, params={"dim": 0})
    added = mask_of(node, build, found, node.optional(3), node.optional(5))
    return mixed(node, build, found, added), present


@operator("MultiHeadAttention", domain=CONTRIB)
def multi_head_attention(node: Node, build: GraphBuilder) -> tuple[Value | None, ...]:
    """The attention of queries to keys and values that are given apart, or side by side."""
    if node.optional(8) is not None or node.optional(9) is not None or node.wants(3):
        raise node.unsupported("no shared buffer, no cache_indirection, no output qk", "one")
    found = _given_heads(node, build)
    if node.optional(6) is not None:
        key, value = (_behind(build, node.value(6), found.key), _behind(build, node.value(7), found.value))
        found = found._replace(key=key, value=value)
    added = mask_of(node, build, found, node.optional(4), node.optional(5))
    return mixed(node, build, found, added), found.key, found.value


@operator("GroupQueryAttention", domain=CONTRIB)
def group_query_attention(node: Node, build: GraphBuilder) -> tuple[Value, ...]:
    """One layer, whose sizes depend on the lengths that it is told."""
    names = (
        "query key value past_key past_value seqlens_k total_sequence_length cos_cache sin_cache position_ids "
        "attention_bias head_sink k_scale v_scale q_norm_weight k_norm_weight query_seqlens"
    )
    for place in (0, 5, 6):
        node.value(place)
    lacking = {"sliding_window_cache": 0, "qk_output": 0, "causal": 1, "k_quant_type": "NONE", "v_quant_type": "NONE"}
    for key, usual in lacking.items():
        if node.get(key, usual) != usual:
            raise node.unsupported(f"{key}={usual}", node.get(key))
    if any(node.optional(place) is not None for place in range(12, 17)):
        raise node.unsupported("no scales of caches, no norms of queries and keys, no query_seqlens", "one")
    if (node.optional(1) is None) != (node.optional(2) is None) or (node.optional(3) is None) != (
        node.optional(4) is None
    ):
        raise ParameterError(node.where, "key with value, past_key with past_value", "one of them")
    flags = {key: bool(node.int(key, 0)) for key in ("do_rotary", "rotary_interleaved", "smooth_softmax")}
    numbers = {key: node.float(key, 0.0) for key in ("scale", "softcap")}
    sizes = {"num_heads": node.int("num_heads"), "kv_num_heads": node.int("kv_num_heads")}
    params = {**flags, **numbers, **sizes, "local_window_size": node.int("local_window_size", -1)}
    values = by_name(node, build, names, 0, outputs=3, params=params)
    for value in values[1:]:
        value.type = node.value(0).type
    return values


@operator("RotaryEmbedding", domain=CONTRIB)
def rotary_embedding(node: Node, build: GraphBuilder) -> Value:
    """Pairs of numbers turned by the angles of their positions."""
    if node.int("is_packed_batching", 0):
        raise node.unsupported("is_packed_batching=0", 1)
    params = {"num_heads": node.int("num_heads", 0), "interleaved": bool(node.int("interleaved", 0))}
    values = [node.value(place) for place in range(4)]
    return build.op("com.microsoft.RotaryEmbedding", *values, params=params, shape=values[0].shape)


def in_heads(node: Node, build: GraphBuilder, x: Value, heads: int) -> Value:
    """(b, l, h * d) as (b, h, l, d)."""
    if heads < 1:
        raise ParameterError(node.where, "num_heads of at least 1", heads)
    cut = build.op("Tensor.unflatten", x, params={"dim": 2, "sizes": [heads, -1]}, type=x.type)
    return build.op("Tensor.permute", cut, params={"dims": [0, 2, 1, 3]})


def mixed(node: Node, build: GraphBuilder, heads: Heads, added: Value | None) -> Value:
    """softmax(q k^T + added) v, with the heads side by side."""
    scale = node.float("scale", 0.0)
    values = [*heads, *([] if added is None else [added])]
    params = {"scale": scale} if scale else {}
    names = ["query", "key", "value", "attn_mask"][: len(values)]
    out = build.op("F.scaled_dot_product_attention", *values, names=names, params=params)
    rows = build.op("Tensor.permute", out, params={"dims": [0, 2, 1, 3]})
    return build.op("torch.flatten", rows, params={"start_dim": 2, "end_dim": 3}, type=heads.query.type)


def mask_of(node: Node, build: GraphBuilder, heads: Heads, mask: Value | None, bias: Value | None) -> Value | None:
    """What is added to the scores, if anything is."""
    added = None
    is_causal = bool(node.int("unidirectional", 0))
    if mask is not None or is_causal:
        params = {"unidirectional": is_causal, "mask_filter_value": node.float("mask_filter_value", -10000.0)}
        given = [heads.query, heads.key, *([] if mask is None else [mask])]
        added = build.op("com.microsoft.AttentionMask", *given, params=params, type=heads.query.type)
    if bias is None or added is None:
        return added if bias is None else bias
    return build.expression("add(@0,@1)", added, bias)


def _given_heads(node: Node, build: GraphBuilder) -> Heads:
    """The three of MultiHeadAttention, in whichever of its forms they come."""
    query, key, value, heads = node.value(0), node.optional(1), node.optional(2), node.int("num_heads")
    bias = node.optional(3)
    if key is None:  # (b, s, h, 3, d)
        packed = build.op("Tensor.permute", query, params={"dims": [3, 0, 2, 1, 4]})
        parts = build.ops("torch.unbind", packed, outputs=_QKV, params={"dim": 0})
        return Heads(*_with_bias(node, build, parts, bias, heads))
    if value is None:  # key is (b, t, h, 2, d)
        packed = build.op("Tensor.permute", key, params={"dims": [3, 0, 2, 1, 4]})
        both = build.ops("torch.unbind", packed, outputs=2, params={"dim": 0})
        return Heads(*_with_bias(node, build, (in_heads(node, build, query, heads), *both), bias, heads))
    if key.rank is None:
        raise node.unsupported("a key whose number of axes is known", f"'{key.name}'")
    if key.rank == 4:  # keys and values of another call, in heads
        first = _with_bias(node, build, (in_heads(node, build, query, heads),), bias, heads)[0]
        return Heads(first, key, value)
    parts = tuple(in_heads(node, build, part, heads) for part in (query, key, value))
    return Heads(*_with_bias(node, build, parts, bias, heads))


def _with_bias(
    node: Node, build: GraphBuilder, parts: tuple[Value, ...], bias: Value | None, heads: int
) -> tuple[Value, ...]:
    """Queries, keys and values in heads, each plus its part of the bias; those are of equal lengths unless constant."""
    if bias is None:
        return parts
    shape = node.value(0).shape or ()
    width = shape[-1] if len(shape) == 3 else None
    if isinstance(width, int) and bias.shape and isinstance(bias.shape[0], int):
        sizes = [width, width, bias.shape[0] - 2 * width]
        pieces = build.ops("torch.split", bias, outputs=_QKV, params={"split_size_or_sections": sizes, "dim": 0})
    else:
        pieces = build.ops("torch.chunk", bias, outputs=_QKV, params={"chunks": _QKV, "dim": 0})
    cut = [build.op("Tensor.unflatten", one, params={"dim": 0, "sizes": [heads, 1, -1]}) for one in pieces]
    return tuple(build.expression("add(@0,@1)", *pair) for pair in zip(parts, cut, strict=False))


def _behind(build: GraphBuilder, old: Value, new: Value) -> Value:
    """Keys or values behind those of the past."""
    return build.op("torch.cat", old, new, params={"dim": 2})
