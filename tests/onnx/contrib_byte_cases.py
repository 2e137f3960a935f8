"""Operators of onnxruntime on bytes."""

from __future__ import annotations

import numpy as np

from tests.onnx.contrib_case import Case, Numbers, scalar


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
