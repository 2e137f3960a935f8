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
    return quantized_cases() + product_cases() + lstm_cases()


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
            cases.append(Case(name, "DynamicQuantizeLSTM", full, settings, "FFF", weights, 1e-6))
            bare = [x, w, u, None, None, None, None, None, *many]
            cases.append(Case(f"{name}_columns", "DynamicQuantizeLSTM", bare, settings, "F", weights, 1e-6))
            uneven = [x, w, u, bias, lens, h, c, p, *many]
            more = {**settings, "clip": 0.7, "input_forget": int(kind == "int8")}
            cases.append(Case(f"{name}_lens", "DynamicQuantizeLSTM", uneven, more, "FFF", weights, 1e-6))
            cases.append(Case(f"{name}_last", "DynamicQuantizeLSTM", uneven, settings, "_FF", weights, 1e-6))
    return cases
