"""Quantised networks in ONNX, under construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from pathlib import Path


rng = np.random.default_rng(0)


class Net:
    """A quantised network under construction: constants by name, and nodes with DequantizeLinear around each."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}

    def constant(self, name: str, array: Any) -> str:
        self.constants[name] = np.asarray(array)
        return name

    def quantize(self, x: str, y: str, scale: float, zero: int, dtype: Any = np.uint8) -> str:
        ends = [self.constant(f"{y}_scale", np.float32(scale)), self.constant(f"{y}_zero", dtype(zero))]
        self.nodes.append(helper.make_node("QuantizeLinear", [x, *ends], [y]))
        return y

    def dequantize(self, x: str, y: str) -> str:
        self.nodes.append(helper.make_node("DequantizeLinear", [x, f"{x}_scale", f"{x}_zero"], [y]))
        return y

    def weights(self, name: str, *shape: int, axis: int | None = None, dtype: Any = np.int8) -> str:
        count = shape[axis] if axis is not None else 1
        info = np.iinfo(dtype)
        self.constant(name, rng.integers(info.min, info.max + 1, shape).astype(dtype))
        scale = (rng.random(count).astype(np.float32) + np.float32(0.5)) / 100
        zero = np.full(count, 0 if dtype == np.int8 else 131, dtype)
        shaped = (lambda array: array) if axis is not None else (lambda array: array.reshape(()))
        self.constant(f"{name}_scale", shaped(scale)), self.constant(f"{name}_zero", shaped(zero))
        inputs = [name, f"{name}_scale", f"{name}_zero"]
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [f"{name}_f"], axis=axis or 0))
        return f"{name}_f"

    def bias(self, name: str, count: int, x: str, weight: str) -> str:
        scale = self.constants[f"{x}_scale"] * self.constants[f"{weight}_scale"]
        self.constant(name, rng.integers(-3000, 3000, count).astype(np.int32))
        self.constant(f"{name}_scale", scale), self.constant(f"{name}_zero", np.zeros(scale.shape, np.int32))
        inputs = [name, f"{name}_scale", f"{name}_zero"]
        self.nodes.append(helper.make_node("DequantizeLinear", inputs, [f"{name}_f"], axis=0))
        return f"{name}_f"

    def node(self, kind: str, inputs: list[str], output: str, **settings: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    def save(self, path: Path, shape: tuple[int, ...], outputs: str = "y") -> Path:
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, 0, None) for name in outputs.split()],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), path / "net.onnx")
        return path / "net.onnx"


def types(model: Any) -> list[str]:
    ends = ("pnnx.Input", "pnnx.Output", "pnnx.Attribute")
    return [op.type for op in model.operators if op.type not in ends]
