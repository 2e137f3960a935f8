"""Single operators of onnxruntime with made-up inputs: ``fixtures/make_contrib.py`` runs them, tests compare."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper

CONTRIB = "com.microsoft"


class Case(NamedTuple):
    """A node: inputs are arrays, or None where one is left out; ``step`` is how far a byte may be off, or a float.

    ``weights`` are the places of inputs that a file would have as constants.
    """

    name: str
    type: str
    inputs: list[np.ndarray | None]
    settings: dict[str, Any]
    outputs: str = "F"
    weights: tuple[int, ...] = ()
    tolerance: float = 0.0
    domain: str = CONTRIB
    opset: int = 17


_TYPES = {"F": 1, "U": 2, "I": 3, "i": 6, "l": 7, "d": 11, "_": 0}


def model(case: Case, constant: bool = False) -> onnx.ModelProto:
    """The case as a model; its weights are inputs, or constants."""
    names = ["" if value is None else f"x{place}" for place, value in enumerate(case.inputs)]
    given = [(place, value) for place, value in enumerate(case.inputs) if value is not None]
    fixed = case.weights if constant else ()
    made = [f"y{place}" if kind != "_" else "" for place, kind in enumerate(case.outputs)]
    node = helper.make_node(case.type, names, made, "node", domain=case.domain, **case.settings)
    infos = [_info(f"x{place}", value) for place, value in given if place not in fixed]
    outputs = [
        helper.make_tensor_value_info(f"y{place}", _TYPES[kind], None)
        for place, kind in enumerate(case.outputs)
        if kind != "_"
    ]
    weights = [onnx.numpy_helper.from_array(value, f"x{place}") for place, value in given if place in fixed]
    graph = helper.make_graph([node], "contrib", infos, outputs, weights)
    opsets = [helper.make_opsetid("", case.opset), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def arguments(case: Case, constant: bool = False) -> dict[str, np.ndarray]:
    """What the model is called with, by name."""
    fixed = case.weights if constant else ()
    pairs = enumerate(case.inputs)
    return {f"x{place}": value for place, value in pairs if value is not None and place not in fixed}


def _info(name: str, value: np.ndarray) -> onnx.ValueInfoProto:
    """An input with open sizes."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(value.dtype), [f"{name}_{axis}" for axis in range(value.ndim)]
    )


class Numbers:
    """Numbers from a seed, always the same."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)

    def floats(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Normally distributed float32."""
        return np.asarray(self._random.standard_normal(shape) * scale, np.float32)

    def bytes(self, *shape: int, kind: str = "uint8") -> np.ndarray:
        """All bytes of a type, equally often."""
        limits = np.iinfo(kind)
        return np.asarray(self._random.randint(limits.min, limits.max + 1, shape), kind)

    def whole(self, high: int, *shape: int, kind: str = "int64") -> np.ndarray:
        """Whole numbers below a limit."""
        return np.asarray(self._random.randint(0, high, shape), kind)


def scalar(value: float, kind: str = "float32") -> np.ndarray:
    """A tensor without axes."""
    return np.asarray(value, kind)


def all_cases() -> list[Case]:
    """The cases of every family."""
    families = (quantized_cases, product_cases, lstm_cases, simple_cases, nbits_cases, attention_cases)
    return [case for family in families for case in family()]


def quantized_cases() -> list[Case]:
    """Sums, activations and pools of bytes."""
    r, cases = Numbers(1), []
    for kind, zero in (("uint8", 117), ("int8", -9)):
        code, z = ("U" if kind == "uint8" else "I"), scalar(zero, kind)
        a, b = r.bytes(2, 3, 40, kind=kind), r.bytes(3, 40, kind=kind)
        sides = [a, scalar(0.031), z, b, scalar(0.0173), scalar(zero // 2, kind), scalar(0.041), scalar(zero + 3, kind)]
        for word in ("QLinearAdd", "QLinearMul"):
            cases.append(Case(f"{word}_{kind}", word, sides, {}, code))
            one = [*sides[:3], r.bytes(1, kind=kind), *sides[4:]]
            cases.append(Case(f"{word}_scalar_{kind}", word, one, {}, code))
        every = np.arange(256).astype(np.uint8).view(kind).reshape(2, 128)
        x = [every, scalar(0.043), z, scalar(1 / 255), scalar(np.iinfo(kind).min, kind)]
        cases.append(Case(f"QLinearSigmoid_{kind}", "QLinearSigmoid", x, {}, code))
        cases.append(
            Case(f"QLinearLeakyRelu_{kind}", "QLinearLeakyRelu", [*x[:3], scalar(0.03), z], {"alpha": 0.2}, code)
        )
        low = scalar(np.iinfo(kind).min, kind)
        soft = [r.bytes(3, 5, 17, kind=kind), scalar(0.11), z, scalar(1 / 256), low]
        for axis, opset in ((-1, 13), (1, 13), (1, 12)):
            settings = {"axis": axis, "opset": opset}
            cases.append(Case(f"QLinearSoftmax_{axis}_{opset}_{kind}", "QLinearSoftmax", soft, settings, code))
        image = [r.bytes(2, 5, 7, 9, kind=kind), scalar(0.05), z, scalar(0.013), scalar(zero + 5, kind)]
        for last in (0, 1):
            settings = {"channels_last": last}
            cases.append(
                Case(f"QLinearGlobalAveragePool_{last}_{kind}", "QLinearGlobalAveragePool", image, settings, code)
            )
            window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1], **settings}
            cases.append(Case(f"QLinearAveragePool_{last}_{kind}", "QLinearAveragePool", image, window, code))
        padded = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER", "count_include_pad": 1}
        cases.append(Case(f"QLinearAveragePool_padded_{kind}", "QLinearAveragePool", image, padded, code))
        parts = [r.bytes(2, 3, kind=kind), scalar(0.02), z, r.bytes(2, 4, kind=kind), scalar(0.05), scalar(1, kind)]
        joined = [scalar(0.05), scalar(1, kind), *parts]
        cases.append(Case(f"QLinearConcat_{kind}", "QLinearConcat", joined, {"axis": 1}, code))
    return cases


def product_cases() -> list[Case]:
    """Products of bytes."""
    r, cases = Numbers(2), []
    for kind in ("uint8", "int8"):
        b, zeros = r.bytes(600, 24, kind=kind), r.bytes(24, kind=kind)
        scales, bias = np.abs(r.floats(24, scale=0.01)), r.floats(24)
        x = r.floats(2, 3, 600)
        plain = [x, b, scalar(0.01), scalar(5, kind), bias]
        cases.append(Case(f"DynamicQuantizeMatMul_{kind}", "DynamicQuantizeMatMul", plain, {}, "F", (1, 2, 3, 4)))
        columns = [x, b, scales, zeros]
        cases.append(
            Case(f"DynamicQuantizeMatMul_columns_{kind}", "DynamicQuantizeMatMul", columns, {}, "F", (1, 2, 3))
        )
        a = r.bytes(2, 7, 600)
        mixed = [a, b, scalar(0.02), scales, scalar(100, "uint8"), zeros, bias]
        cases.append(Case(f"MatMulIntegerToFloat_{kind}", "MatMulIntegerToFloat", mixed, {}, "F", (1, 3, 5, 6)))
        bare = [r.bytes(4, 8), r.bytes(8, 6, kind=kind), scalar(0.02), scalar(0.03)]
        cases.append(Case(f"MatMulIntegerToFloat_bare_{kind}", "MatMulIntegerToFloat", bare, {}, "F", (1,)))
        c = r.whole(90000, 24, kind="int32") - np.int32(40000)
        left = [r.bytes(5, 600), scalar(0.01), scalar(120, "uint8")]
        gemm = [*left, b, scales, zeros, c, scalar(0.9), scalar(77, "uint8")]
        cases.append(Case(f"QGemm_{kind}", "QGemm", gemm, {"alpha": 0.5}, "U", (3, 4, 5, 6)))
        turned = [r.bytes(9, 5), *left[1:], r.bytes(4, 9, kind=kind), scalar(0.02), scalar(3, kind)]
        cases.append(Case(f"QGemm_floats_{kind}", "QGemm", turned, {"transA": 1, "transB": 1}, "F", (3, 5)))
    return cases


def lstm_cases() -> list[Case]:
    """DynamicQuantizeLSTM with scales for a direction or a column, of both types, in all directions."""
    r, cases = Numbers(3), []
    length, n, features, hidden = 5, 2, 6, 300
    lens = np.array([3, 5], np.int32)
    for kind, zero in (("uint8", 130), ("int8", 0)):
        for direction in ("forward", "reverse", "bidirectional"):
            d = 2 if direction == "bidirectional" else 1
            w, u = r.bytes(d, features, 4 * hidden, kind=kind), r.bytes(d, hidden, 4 * hidden, kind=kind)
            bias, h, c = r.floats(d, 8 * hidden, scale=0.2), r.floats(d, n, hidden), r.floats(d, n, hidden)
            p = r.floats(d, 3 * hidden, scale=0.3)
            zeros = np.full(d, zero, kind)
            x = r.floats(length, n, features)
            one = [np.full(d, 0.01, np.float32), zeros, np.full(d, 0.002, np.float32), zeros]
            columns = np.full((d, 4 * hidden), zero, kind)
            each = np.abs(r.floats(d, 4 * hidden, scale=0.003))
            many = [each, columns, each, columns]
            weights = (1, 2, 3, 7, 8, 9, 10, 11)
            settings = {"direction": direction, "hidden_size": hidden}
            name = f"DynamicQuantizeLSTM_{direction}_{kind}"
            full = [x, w, u, bias, None, h, c, None, *one]
            cases.append(Case(name, "DynamicQuantizeLSTM", full, settings, "FFF", weights))
            bare = [x, w, u, None, None, None, None, None, *many]
            cases.append(Case(f"{name}_columns", "DynamicQuantizeLSTM", bare, settings, "F", weights))
            uneven = [x, w, u, bias, lens, h, c, p, *many]
            more = {**settings, "clip": 0.7, "input_forget": int(kind == "int8")}
            cases.append(Case(f"{name}_lens", "DynamicQuantizeLSTM", uneven, more, "FFF", weights))
            cases.append(Case(f"{name}_last", "DynamicQuantizeLSTM", uneven, settings, "_FF", weights))
    return cases


def simple_cases() -> list[Case]:
    """Activations, products and normalisations that the standard has, too."""
    r, cases, close = Numbers(4), [], 2e-6
    x, row = r.floats(2, 5, 16), r.floats(16)

    def add(name: str, kind: str, inputs: list[np.ndarray | None], settings: dict[str, Any], **more: Any) -> None:
        cases.append(Case(name, kind, inputs, settings, **{"tolerance": close, **more}))

    add("Gelu", "Gelu", [x], {})
    add("BiasGelu", "BiasGelu", [x, row], {}, weights=(1,))
    add("FastGelu", "FastGelu", [x], {})
    add("FastGelu_bias", "FastGelu", [x, row], {}, weights=(1,))
    add("QuickGelu", "QuickGelu", [x], {"alpha": 1.5})
    a, b = r.floats(3, 4, 5, 6), r.floats(3, 4, 6, 7)
    add("FusedMatMul", "FusedMatMul", [a, b], {"alpha": 0.5})
    turned = {"transA": 1, "transB": 1, "alpha": 2.0}
    add("FusedMatMul_turned", "FusedMatMul", [a.swapaxes(2, 3).copy(), b.swapaxes(2, 3).copy()], turned)
    weight = r.floats(7, 6)
    add("FusedMatMul_weight", "FusedMatMul", [a, weight], {"transB": 1, "alpha": 0.125}, weights=(1,))
    batch = {"transBatchA": 1, "transBatchB": 1}
    sides = [a.transpose(2, 0, 1, 3).copy(), b.transpose(2, 0, 1, 3).copy()]
    add("FusedMatMul_batch", "FusedMatMul", sides, batch)
    image, kernel = r.floats(1, 3, 8, 9), r.floats(4, 3, 3, 3)
    bias, z = r.floats(4), r.floats(1, 4, 8, 9)
    for word, numbers in (("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 1.5]), ("HardSigmoid", [0.3, 0.4])):
        settings = {"activation": word, "pads": [1, 1, 1, 1], **({"activation_params": numbers} if numbers else {})}
        inputs: list[np.ndarray | None] = [image, kernel, bias]
        add(f"FusedConv_{word}", "FusedConv", inputs, settings, weights=(1, 2))
    settings = {"activation": "Relu", "pads": [1, 1, 1, 1]}
    add("FusedConv_sum", "FusedConv", [image, kernel, bias, z], settings, weights=(1, 2))
    gemm = {"activation": "LeakyRelu", "activation_alpha": 0.3, "transB": 1, "alpha": 0.5}
    add("FusedGemm", "FusedGemm", [r.floats(5, 6), weight, r.floats(7)], gemm, weights=(1, 2))
    skip, gamma, beta, more = r.floats(2, 5, 16), r.floats(16), r.floats(16), r.floats(16)
    eps = {"epsilon": 1e-5}
    weights = (2, 3, 4)
    norm = [x, skip, gamma, beta, more]
    add("SkipLayerNormalization", "SkipLayerNormalization", norm, eps, weights=weights, outputs="F__F")
    add("SkipLayerNormalization_bare", "SkipLayerNormalization", norm[:3], eps, weights=weights)
    short = [x, r.floats(5, 16), gamma, beta]
    add("SkipLayerNormalization_broadcast", "SkipLayerNormalization", short, eps, weights=weights)
    word = "SkipSimplifiedLayerNormalization"
    add(word, word, [x, skip, gamma, more], eps, weights=weights, outputs="F__F")
    add(f"{word}_bare", word, [x, skip, gamma], eps, weights=weights)
    rms = {"axis": -1, "epsilon": 1e-6, "stash_type": 1}
    add("SimplifiedLayerNormalization", "SimplifiedLayerNormalization", [x, gamma], rms, weights=(1,), domain="")
    old = {"axis": -1, "epsilon": 1e-5}
    add("LayerNormalization_old", "LayerNormalization", [x, gamma, beta], old, weights=(1, 2), domain="", opset=12)
    ids, segments, mask = (r.whole(high, 2, 5, kind="int32") for high in (11, 2, 2))
    tables = [r.floats(11, 16), r.floats(7, 16), r.floats(2, 16)]
    every = [ids, segments, *tables, gamma, beta]
    fixed = (2, 3, 4, 5, 6)
    add("EmbedLayerNormalization", "EmbedLayerNormalization", [*every, mask], eps, weights=fixed, outputs="FiF")
    places = r.whole(7, 2, 5, kind="int32")
    bare = [ids, None, tables[0], tables[1], None, gamma, beta, None, places]
    add("EmbedLayerNormalization_bare", "EmbedLayerNormalization", bare, eps, weights=fixed, outputs="Fi")
    square = r.floats(3, 4, 4) + 4 * np.eye(4, dtype=np.float32)
    add("Inverse", "Inverse", [square], {})
    add("Range", "Range", [scalar(1, "int64"), scalar(6, "int64")], {}, outputs="l", weights=(0, 1))
    add("Trilu", "Trilu", [x, scalar(1, "int64")], {"upper": 0}, weights=(1,))
    add("Pad", "Pad", [x, np.array([0, 1, 0, 2, 0, 1])], {"mode": "constant"}, weights=(1,))
    add("ExpandDims", "ExpandDims", [x, scalar(1, "int32")], {}, weights=(1,))
    bytes_of_x = [x, np.full(5, 0.05, np.float32), np.arange(5, dtype=np.uint8)]
    add("QuantizeLinear", "QuantizeLinear", bytes_of_x, {"axis": 1}, outputs="U", tolerance=0.0)
    back = [r.bytes(2, 5, 16, kind="int8"), scalar(0.07), scalar(3, "int8")]
    add("DequantizeLinear", "DequantizeLinear", back, {}, tolerance=0.0)
    add("GatherND", "GatherND", [x, np.array([[0, 4], [1, 0]])], {}, tolerance=0.0)
    grid = np.clip(r.floats(1, 4, 5, 2), -1.2, 1.2)
    add("GridSample", "GridSample", [image, grid], {"mode": "bilinear", "padding_mode": "border"}, tolerance=1e-5)
    pool = {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [0, 1, 0, 1]}
    add("NhwcMaxPool", "NhwcMaxPool", [r.bytes(1, 6, 7, 3)], pool, outputs="U")
    return cases


def nbits_cases() -> list[Case]:
    """Weights in 4 and 8 bits."""
    r, cases = Numbers(5), []
    for bits, size, k, n in ((4, 32, 96, 10), (4, 64, 128, 6), (4, 16, 40, 5), (8, 32, 80, 7)):
        blocks = -(-k // size)
        x, numbers = r.floats(2, 3, k), r.bytes(n, blocks, size * bits // 8)
        halves = np.abs(r.floats(n, blocks, scale=0.1)).astype(np.float16).astype(np.float32)
        zeros, bias = r.bytes(n, -(-blocks * bits // 8)), r.floats(n)
        settings = {"bits": bits, "block_size": size, "K": k, "N": n}
        name = f"MatMulNBits_{bits}_{size}_{k}"
        more = {"weights": (1, 2, 3, 4, 5), "tolerance": 1e-5}
        cases.append(Case(name, "MatMulNBits", [x, numbers, halves], settings, **more))
        scales = np.abs(r.floats(n, blocks, scale=0.1))
        full = [x, numbers, scales, zeros, None, bias]
        cases.append(Case(f"{name}_zeros", "MatMulNBits", full, settings, **more))
        if bits == 4:
            floats = [x, numbers, scales, np.round(r.floats(n, blocks, scale=3) + 8)]
            cases.append(Case(f"{name}_float_zeros", "MatMulNBits", floats, settings, **more))
    ids = np.array([[0, 3], [-1, 5]])
    for bits in (4, 8):
        table, scales = r.bytes(6, 48 * bits // 8), np.abs(r.floats(6, 3, scale=0.1))
        settings = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
        name = f"GatherBlockQuantized_{bits}"
        cases.append(Case(name, "GatherBlockQuantized", [table, ids, scales], settings, weights=(0, 2, 3)))
        zeros = [table, ids, scales, r.bytes(6, -(-3 * bits // 8))]
        cases.append(Case(f"{name}_zeros", "GatherBlockQuantized", zeros, settings, weights=(0, 2, 3)))
    return cases


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
    return cases
