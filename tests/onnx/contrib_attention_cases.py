"""Attentions of onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.onnx.contrib_case import Case, Numbers, scalar


def attention_cases() -> list[Case]:
    """Attentions with masks, biases, pasts, packed inputs and turned pairs."""
    r, cases = Numbers(6), []
    b, s, width, heads, d = 2, 4, 12, 3, 4

    def add(name: str, kind: str, inputs: list[np.ndarray | None], settings: dict[str, Any], **more: Any) -> None:
        cases.append(Case(name, kind, inputs, settings, **{"tolerance": 3e-6, **more}))

    x, w, bias = r.floats(b, s, 10), r.floats(10, 3 * width, scale=0.3), r.floats(3 * width)
    plain, fixed = {"num_heads": heads}, {"weights": (1, 2)}
    add("Attention", "Attention", [x, w, bias], plain, **fixed)
    add("Attention_causal", "Attention", [x, w, bias], {**plain, "unidirectional": 1, "scale": 0.4}, **fixed)
    past = r.floats(2, b, heads, 3, d)
    masks = {
        "ends": np.array([4, 2], np.int32),
        "spans": np.array([4, 3, 0, 1], np.int32),
        "rows": np.array([[1, 1, 1, 0], [0, 1, 1, 1]], np.int32),
        "each": r.whole(2, b, s, s, kind="int32"),
        "none": np.zeros((b, s), np.int32),
    }
    for name, mask in masks.items():
        for causal in (0, 1):
            settings = {**plain, "unidirectional": causal}
            add(f"Attention_mask_{name}_{causal}", "Attention", [x, w, bias, mask], settings, **fixed)
    both = {**plain, "unidirectional": 1}
    add("Attention_past", "Attention", [x, w, bias, None, past], both, outputs="FF", **fixed)
    sizes = {**plain, "qkv_hidden_sizes": [width, width, 6]}
    extra = r.floats(1, heads, s, s)
    add("Attention_sizes", "Attention", [x, r.floats(10, 30), r.floats(30), None, None, extra], sizes, **fixed)
    q, k, v = r.floats(b, s, width), r.floats(b, 6, width), r.floats(b, 6, width)
    add("MultiHeadAttention", "MultiHeadAttention", [q, k, v], plain)
    padding = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]], np.int32)
    extra = r.floats(b, heads, s, 6)
    full = [q, k, v, bias, padding, extra]
    add("MultiHeadAttention_bias", "MultiHeadAttention", full, {**plain, "scale": 0.3}, weights=(3,))
    old = [r.floats(b, heads, 5, d), r.floats(b, heads, 5, d)]
    add("MultiHeadAttention_heads", "MultiHeadAttention", [q, *old, None], plain)
    pasts = [q, r.floats(b, s, width), r.floats(b, s, width), None, None, None, *old]
    add("MultiHeadAttention_past", "MultiHeadAttention", pasts, {**plain, "unidirectional": 1}, outputs="FFF")
    angles = r.floats(20, 2)
    caches = [np.cos(angles), np.sin(angles)]
    places = r.whole(20, b, s)
    for inter in (0, 1):
        settings = {"interleaved": inter}
        add(f"RotaryEmbedding_{inter}", "RotaryEmbedding", [q, places, *caches], settings, weights=(2, 3))
        four = [r.floats(b, heads, s, 6), np.array([3]), *caches]
        partial = {**settings, "rotary_embedding_dim": 4, "num_heads": heads}
        add(f"RotaryEmbedding_four_{inter}", "RotaryEmbedding", four, partial, weights=(2, 3))
    return cases + group_query_cases()


def group_query_cases() -> list[Case]:
    """GroupQueryAttention: a first prompt, and a token behind a past."""
    r, cases = Numbers(7), []
    b, heads, kv, d = 2, 4, 2, 16
    angles = r.floats(20, d // 2)
    caches = [np.cos(angles), np.sin(angles)]
    plain = {"num_heads": heads, "kv_num_heads": kv}
    for s, total, room in ((5, 5, 0), (1, 7, 6), (1, 7, 9)):
        q, k, v = r.floats(b, s, heads * d), r.floats(b, s, kv * d), r.floats(b, s, kv * d)
        lengths = np.array([total - 1, total - 1 if s > 1 else total - 3], np.int32)
        past = [r.floats(b, kv, room, d), r.floats(b, kv, room, d)]
        ends = [lengths, scalar(total, "int32")]
        name = f"GroupQueryAttention_{s}_{total}_{room}"
        more = {"outputs": "FFF", "tolerance": 3e-6, "weights": (7, 8)}
        cases.append(Case(name, "GroupQueryAttention", [q, k, v, *past, *ends], plain, **more))
        for inter in (0, 1):
            turned = {**plain, "do_rotary": 1, "rotary_interleaved": inter}
            every = [np.concatenate([q, k, v], 2), None, None, *past, *ends, *caches]
            cases.append(Case(f"{name}_packed_{inter}", "GroupQueryAttention", every, turned, **more))
        rich = {**plain, "softcap": 2.0, "local_window_size": 3, "smooth_softmax": 1, "scale": 0.4}
        cases.append(Case(f"{name}_rich", "GroupQueryAttention", [q, k, v, *past, *ends], rich, **more))
        bias = r.floats(1, heads, s, total)
        sink = r.floats(heads)
        extra = [q, k, v, *past, *ends, None, None, None, bias, sink]
        cases.append(Case(f"{name}_sink", "GroupQueryAttention", extra, plain, **more))
    return cases + long_group_query_cases()


def long_group_query_cases() -> list[Case]:
    """GroupQueryAttention of several blocks of rows and of keys, with a window and without."""
    r, cases = Numbers(8), []
    heads, kv, d = 2, 1, 16
    angles = r.floats(400, d // 2)
    caches = [np.cos(angles), np.sin(angles)]
    for b, s, room in ((2, 140, 0), (1, 20, 250), (1, 1, 270)):
        new = [r.floats(b, s, size * d) for size in (heads, kv, kv)]
        past = [r.floats(b, kv, room, d), r.floats(b, kv, room, d)]
        ends = [np.full(b, room + s - 1, np.int32), scalar(room + s, "int32")]
        for window in (-1, 45):
            settings = {"num_heads": heads, "kv_num_heads": kv, "do_rotary": 1, "local_window_size": window}
            name = f"GroupQueryAttention_long_{s}_{room}_{window}"
            more = {"outputs": "FFF", "tolerance": 3e-6, "weights": (7, 8)}
            cases.append(Case(name, "GroupQueryAttention", [*new, *past, *ends, *caches], settings, **more))
    return cases
