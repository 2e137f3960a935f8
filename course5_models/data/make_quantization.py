"""Make quantization.json: what onnxruntime's QuantizeLinear answers, for the tests of exercise 5.15.

    python course5_models/data/make_quantization.py         needs onnx and onnxruntime (pip install -e '.[export]')

Both round a half to the even number before the zero point is added, as ONNX says. PyTorch's quantize_per_tensor adds the
zero point first, so it answers another number at halves where the zero point is odd.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

CASES = {  # name: scale, zero point
    "symmetric": (0.03125, 0),
    "behind a ReLU": (0.015625, -128),
    "lopsided": (0.0625, 37),
    "coarse": (0.5, -5),
    "no power of 2": (0.02, 11),
}


def answer(x: np.ndarray, scale: float, zero_point: int) -> np.ndarray:
    """The integers of ``x`` (k,) by onnxruntime."""
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero_point"], ["q"])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(x.shape))]
    outputs = [helper.make_tensor_value_info("q", TensorProto.INT8, list(x.shape))]
    constants = [
        helper.make_tensor("scale", TensorProto.FLOAT, [], [scale]),
        helper.make_tensor("zero_point", TensorProto.INT8, [], [zero_point]),
    ]
    graph = helper.make_graph([node], "quantize", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


def main() -> None:
    """Ask onnxruntime, and write the file."""
    cases = {}
    for number, (name, (scale, zero_point)) in enumerate(CASES.items()):
        x = (np.random.default_rng(number).integers(-640, 641, 24) / 128).astype(np.float32)
        q = answer(x, scale, zero_point).tolist()
        cases[name] = {"x": x.tolist(), "scale": scale, "zero_point": zero_point, "q": q}
    text = json.dumps({"onnxruntime": onnxruntime.__version__, "quantize": cases})
    (Path(__file__).parent / "quantization.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
