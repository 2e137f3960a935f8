"""Operators of onnxruntime on floats, but attentions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.onnx.contrib_case import Case, Numbers, scalar


def simple_cases() -> list[Case]:
    """Activations and products that the standard has, too."""
    r, cases, close = Numbers(4), [], 2e-6

    def add(name: str, kind: str, inputs: list[np.ndarray | None], settings: dict[str, Any], **more: Any) -> None:
        cases.append(Case(name, kind, inputs, settings, **{"tolerance": close, **more}))

    x, row = r.floats(2, 5, 16), r.floats(16)
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
    return cases


def normalisation_cases() -> list[Case]:
    """Layer norms of sums, and of embeddings."""
    r, cases, close = Numbers(8), [], 2e-6

    def add(name: str, kind: str, inputs: list[np.ndarray | None], settings: dict[str, Any], **more: Any) -> None:
        cases.append(Case(name, kind, inputs, settings, **{"tolerance": close, **more}))

    x = r.floats(2, 5, 16)
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
    return cases


def standard_cases() -> list[Case]:
    """What has only another name in the standard."""
    r, cases, close = Numbers(9), [], 2e-6

    def add(name: str, kind: str, inputs: list[np.ndarray | None], settings: dict[str, Any], **more: Any) -> None:
        cases.append(Case(name, kind, inputs, settings, **{"tolerance": close, **more}))

    x, image = r.floats(2, 5, 16), r.floats(1, 3, 8, 9)
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
