"""Small models in ONNX, from which the fuzzer begins: ``python -m tests.fuzz.onnx_seeds`` writes them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.fuzz.inputs import CORPUS
from tests.onnx.little_models import model, tensor

if TYPE_CHECKING:
    from onnx import ModelProto


def convolution() -> ModelProto:
    """Weights, open sizes, settings that are lists."""
    weight = np.ones((1, 1, 2, 2), np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[0, 0, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["y"], kernel_shape=[2, 2]),
    ]
    return model(nodes, [tensor("x", "n", 1, "h", "w")], [tensor("y", "n", 1, None, None)], {"w": weight})


def computed_shape() -> ModelProto:
    """Sizes that are computed from sizes, and a constant that is a setting."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "i"], ["n"]),
        helper.make_node("Constant", [], ["rest"], value_ints=[-1, 2]),
        helper.make_node("Unsqueeze", ["n", "zero"], ["m"]),
        helper.make_node("Concat", ["m", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    weights = {"i": np.array(0, np.int64), "zero": np.array([0], np.int64)}
    return model(nodes, [tensor("x", "n", 4)], [tensor("y", None, None, 2)], weights)


def condition() -> ModelProto:
    """Two bodies, one of which has a weight."""
    output = tensor("z", 2)
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    then = helper.make_graph([helper.make_node("Add", ["x", "w"], ["z"])], "then", [], [output], [weight])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["z"])], "other", [], [output])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    return model([node], [tensor("x", 2), tensor("c", kind=TensorProto.BOOL)], [tensor("y", 2)])


def loop() -> ModelProto:
    """A body that runs several times."""
    state = tensor("a", 2)
    inputs = [tensor("i", kind=TensorProto.INT64), tensor("c", kind=TensorProto.BOOL), state]
    nodes = [helper.make_node("Add", ["a", "a"], ["b"]), helper.make_node("Identity", ["c"], ["go"])]
    body = helper.make_graph(nodes, "body", inputs, [tensor("go", kind=TensorProto.BOOL), tensor("b", 2)])
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    return model([node], [tensor("x", 2)], [tensor("y", 2)], {"n": np.array(3, np.int64)})


def functions() -> ModelProto:
    """A function that calls another."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    inner = helper.make_function("own", "G", ["x"], ["y"], [helper.make_node("Neg", ["x"], ["y"])], opsets)
    call = helper.make_node("G", ["x"], ["y"], domain="own")
    outer = helper.make_function("own", "F", ["x"], ["y"], [call], opsets)
    made = model([helper.make_node("F", ["x"], ["y"], domain="own")], [tensor("x", 2)], [tensor("y", 2)])
    made.opset_import.append(opsets[1])
    made.functions.extend([outer, inner])
    return made


def tensors() -> ModelProto:
    """Tensors of several types, stored in several ways, one of them in another file."""
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["a"]),
        helper.make_node("Cast", ["h"], ["b"], to=TensorProto.FLOAT),
        helper.make_node("Sum", ["a", "b", "e", "x"], ["y"]),
    ]
    made = model(nodes, [tensor("x", 2)], [tensor("y", 2)])
    elsewhere = TensorProto(name="e", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    elsewhere.external_data.add(key="location", value="input.onnx")
    made.graph.initializer.extend([
        helper.make_tensor("q", TensorProto.INT8, [2], [1, -1]),
        helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]),
        helper.make_tensor("z", TensorProto.INT8, [], b"\1", raw=True),
        helper.make_tensor("h", TensorProto.FLOAT16, [2], [1, 2]),
        elsewhere,
    ])  # fmt: skip
    return made


def old() -> ModelProto:
    """An old operator set, and weights that are inputs."""
    nodes = [helper.make_node("Dropout", ["x"], ["a"], ratio=0.5), helper.make_node("Add", ["a", "w"], ["y"])]
    inputs = [tensor("x", 2), tensor("w", 2)]
    return model(nodes, inputs, [tensor("y", 2)], {"w": np.ones(2, np.float32)}, opset=6)


SEEDS = (convolution, computed_shape, condition, loop, functions, tensors, old)


if __name__ == "__main__":
    for make in SEEDS:
        (CORPUS / "onnx" / make.__name__).write_bytes(make().SerializeToString())
