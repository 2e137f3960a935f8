"""Small models in ONNX, made in code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Size = int | str | None


def tensor(name: str, *sizes: Size, kind: int = TensorProto.FLOAT) -> ValueInfoProto:
    """An input or an output."""
    return helper.make_tensor_value_info(name, kind, sizes)


def model(
    nodes: Sequence[Any],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
) -> ModelProto:
    """A model of these nodes; weights by name."""
    stored = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "little", list(inputs), list(outputs), stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def scaled_convolution() -> ModelProto:
    """Pictures of any size and number, and a number that multiplies what a convolution makes of them."""
    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["image", "weight"], ["sums"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["sums"], ["positive"], name="relu"),
        helper.make_node("Mul", ["positive", "scale"], ["scores"], name="scaled"),
    ]
    inputs = [tensor("image", "N", 3, "height", "width"), tensor("scale")]
    return model(nodes, inputs, [tensor("scores", "N", 4, "height", "width")], {"weight": weight})


def classifier() -> ModelProto:
    """Photos (n, 3, 8, 8) to scores of three classes, the second of which is how green they are."""
    weight = np.repeat(np.eye(3, dtype=np.float32), 64).reshape(3, 3, 8, 8)
    nodes = [
        helper.make_node("Conv", ["photo", "weight"], ["sums"], name="conv"),
        helper.make_node("Flatten", ["sums"], ["scores"], name="flat"),
    ]
    return model(nodes, [tensor("photo", "n", 3, 8, 8)], [tensor("scores", "n", 3)], {"weight": weight})
