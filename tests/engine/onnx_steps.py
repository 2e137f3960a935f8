"""ONNX's operators in a plan and on the layers, which must give the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import kuiper
from tests.engine.models import algorithms, plan_of

if TYPE_CHECKING:
    from pathlib import Path

rng = np.random.default_rng(0)

TYPES = {
    "float32": TensorProto.FLOAT,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
    "int32": TensorProto.INT32,
}


def steps_of(
    folder: Path,
    *nodes: onnx.NodeProto,
    inputs: list[np.ndarray],
    constants: dict[str, Any],
    outputs: str = "y",
    opset: int = 21,
    copies: bool = False,
) -> list[str]:
    """What runs between import and export for these nodes; the engine must give the bits of the layers."""
    names = [f"x{i}" if i else "x" for i in range(len(inputs))]
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [
            helper.make_tensor_value_info(name, TYPES[x.dtype.name], x.shape)
            for name, x in zip(names, inputs, strict=True)
        ],
        [helper.make_tensor_value_info(name, 0, None) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    path, opsets = folder / "model.onnx", [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)
    fast, plain = kuiper.load(path), kuiper.load(path, optimize=False)
    results = [model(*inputs) for model in (fast, plain)]
    pairs = zip(*(result if isinstance(result, tuple) else (result,) for result in results), strict=True)
    for got, expected in pairs:
        assert np.asarray(got).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
    left_out = ("import", "export") if copies else ("import", "export", "copy")
    return [word for word in algorithms(plan_of(fast, inputs)) if word not in left_out]


def random(dtype: Any, *shape: int) -> np.ndarray:
    """All numbers of a type of integers."""
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
