"""ONNX's operators on bytes in a plan: no stop in Python, and the numbers of the layers, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import kuiper
from tests.engine.onnx_steps import random, rng

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("x_type", [np.uint8, np.int8])
@pytest.mark.parametrize("w_type", [np.uint8, np.int8])
@pytest.mark.parametrize("per_output", [False, True])
@pytest.mark.parametrize(
    ("shape", "kernel", "settings"),
    [
        ((2, 5, 9, 11), (7, 5, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 1]}),
        ((1, 6, 8, 7), (10, 3, 2, 3), {"group": 2, "dilations": [2, 1], "auto_pad": "SAME_UPPER"}),
        ((1, 40, 5, 5), (33, 40, 1, 1), {}),
        ((2, 1, 12, 12), (4, 1, 5, 5), {"pads": [0, 3, 2, 1]}),
        ((2, 4, 21), (6, 4, 5), {"pads": [2, 2]}),
        ((1, 12, 10, 9), (12, 1, 3, 3), {"group": 12, "pads": [1, 1, 1, 1]}),
        ((1, 6, 10, 9), (12, 1, 3, 3), {"group": 6, "strides": [2, 2]}),
    ],
)
def test_convolutions(
    steps_of: Any, shape: Any, kernel: Any, settings: Any, x_type: Any, w_type: Any, per_output: bool
) -> None:
    x, count = random(x_type, *shape), kernel[0] if per_output else 1
    w_zero = random(w_type, count) if w_type is np.uint8 else np.zeros(count, w_type)
    constants = {
        "xs": np.float32(0.02), "xz": random(x_type, 1)[0], "w": random(w_type, *kernel), "wz": w_zero,
        "ws": rng.random(count).astype(np.float32) / 100, "ys": np.float32(0.3), "yz": random(x_type, 1)[0],
        "b": rng.integers(-5000, 5000, kernel[0]).astype(np.int32),
    }  # fmt: skip
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    node = helper.make_node("QLinearConv", names, ["y"], **settings)
    assert steps_of(node, inputs=[x], constants=constants) == ["bytes"]
    node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **settings)
    assert steps_of(node, inputs=[x], constants=constants) == ["bytes"]


@pytest.mark.parametrize("x_type", [np.uint8, np.int8])
@pytest.mark.parametrize("per_output", [False, True])
@pytest.mark.parametrize("shape", [(1, 40), (3, 17, 40), (40,), (2, 1, 3, 40)])
def test_products(steps_of: Any, shape: Any, x_type: Any, per_output: bool) -> None:
    x, count = random(x_type, *shape), 33 if per_output else 1
    constants = {
        "xs": np.float32(0.02), "xz": random(x_type, 1)[0], "w": random(np.int8, 40, 33),
        "wz": np.zeros(count, np.int8), "ws": rng.random(count).astype(np.float32) / 100,
        "ys": np.float32(0.3), "yz": random(x_type, 1)[0],
    }  # fmt: skip
    node = helper.make_node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"])
    assert steps_of(node, inputs=[x], constants=constants) == ["bytes"]
    node = helper.make_node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"])
    assert steps_of(node, inputs=[x], constants=constants) == ["bytes"]


@pytest.mark.parametrize("kinds", [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.uint8), (np.int8, np.int8)])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 70, 41), (2, 3, 41, 67)),
        ((3, 1, 5, 64), (2, 64, 33)),
        ((1, 600), (600, 1)),
        ((4, 2, 3), (3, 8)),
    ],
)
def test_products_of_matrices_that_the_graph_computes(steps_of: Any, first: Any, second: Any, kinds: Any) -> None:
    inputs = [random(kind, *shape) for kind, shape in zip(kinds, (first, second), strict=True)]
    inputs[0].reshape(-1)[:] = np.iinfo(kinds[0]).max  # the largest sums
    inputs[0].reshape(-1)[::3] = random(kinds[0], inputs[0].size)[::3]
    constants = {
        "xs": np.float32(0.02), "xz": random(kinds[0], 1)[0], "ws": np.float32(0.01), "wz": random(kinds[1], 1)[0],
        "ys": np.float32(0.3), "yz": random(kinds[0], 1)[0],
    }  # fmt: skip
    node = helper.make_node("QLinearMatMul", ["x", "xs", "xz", "x1", "ws", "wz", "ys", "yz"], ["y"])
    assert steps_of(node, inputs=inputs, constants=constants) == ["bytes"]
    for zeros in ([], ["xz", "wz"]):
        node = helper.make_node("MatMulInteger", ["x", "x1", *zeros], ["y"])
        assert steps_of(node, inputs=inputs, constants=constants) == ["bytes"]


@pytest.mark.parametrize("turned", ["left", "right", "both"])
def test_products_of_matrices_that_lie_by_columns(steps_of: Any, turned: str) -> None:
    """Queries by keys: heads lie side by side, and keys are turned."""
    constants = {"s": np.float32(0.02), "z": np.uint8(131), "t": np.float32(2.5), "u": np.uint8(90)}
    nodes = [
        helper.make_node("Transpose", ["x"], ["a"], perm=[0, 2, 3, 1] if turned != "right" else [0, 2, 1, 3]),
        helper.make_node("Transpose", ["x1"], ["b"], perm=[0, 2, 3, 1] if turned != "left" else [0, 2, 1, 3]),
        helper.make_node("QLinearMatMul", ["a", "s", "z", "b", "s", "z", "t", "u"], ["y"]),
    ]
    shapes = {"left": ((2, 19, 3, 35), (2, 19, 3, 18)), "right": ((2, 35, 3, 19), (2, 37, 3, 19))}
    shapes["both"] = ((2, 19, 3, 35), (2, 37, 3, 19))
    inputs = [random(np.uint8, *shape) for shape in shapes[turned]]
    assert steps_of(*nodes, inputs=inputs, constants=constants) == ["bytes"]


def test_heads_that_are_joined_again_are_one_copy(steps_of: Any) -> None:
    """Behind attention: heads lie in front of positions, and are joined behind them."""
    constants = {"s": np.float32(0.02), "z": np.uint8(131), "t": np.float32(2.5), "u": np.uint8(90)}
    constants["shape"] = np.int64([2, 19, -1])
    nodes = [
        helper.make_node("QLinearMatMul", ["x", "s", "z", "x1", "s", "z", "t", "u"], ["p"]),
        helper.make_node("Transpose", ["p"], ["q"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["q", "shape"], ["y"]),
    ]
    inputs = [random(np.uint8, 2, 3, 19, 24), random(np.uint8, 2, 3, 24, 5)]
    assert steps_of(*nodes, inputs=inputs, constants=constants, copies=True) == ["bytes", "copy"]


def test_matrices_that_do_not_fit_are_left_to_the_layer(tmp_path: Path) -> None:
    node = helper.make_node("MatMulInteger", ["x", "x1"], ["y"])
    shapes = {"x": ("n", "k"), "x1": ("l", "m")}
    infos = [helper.make_tensor_value_info(name, TensorProto.UINT8, shape) for name, shape in shapes.items()]
    graph = helper.make_graph([node], "graph", infos, [helper.make_tensor_value_info("y", 0, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), tmp_path / "model.onnx")
    with pytest.raises(kuiper.ShapeError, match="factors that fit"):
        kuiper.load(tmp_path / "model.onnx")(random(np.uint8, 3, 4), random(np.uint8, 5, 6))


@pytest.mark.parametrize("shape", [(3, 17, 40), (2, 3, 5, 7), (600,), (50, 24), (3, 70)])
def test_products_of_numbers_whose_range_is_found_in_the_run(steps_of: Any, shape: Any) -> None:
    constants = {"w": random(np.int8, shape[-1], 9)}
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["y"]),
    ]
    for x in (rng.standard_normal(shape), np.zeros(shape), rng.random(shape) + 1, -rng.random(shape)):
        steps = steps_of(*nodes, inputs=[x.astype(np.float32)], constants=constants, outputs="y q s z")
        assert steps == ["range", "quantize", "bytes"]


def test_a_product_whose_scale_the_graph_computes_makes_no_stop(steps_of: Any) -> None:
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("ConvInteger", ["q", "w", "z"], ["i"], pads=[1, 1, 1, 1]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "t"], ["u"]),
        helper.make_node("Mul", ["f", "u"], ["y"]),
    ]
    x, constants = rng.standard_normal((1, 3, 9, 8)).astype(np.float32), {"w": random(np.int8, 5, 3, 3, 3)}
    steps = steps_of(*nodes, inputs=[x], constants={**constants, "t": np.float32(0.3)})
    assert "layer" not in steps


@pytest.mark.parametrize("turned", [0, 1])
def test_linear_layers_of_onnxruntime(steps_of: Any, turned: int) -> None:
    constants = {
        "as": np.float32(0.02), "az": np.uint8(7), "b": random(np.int8, *((9, 40) if turned else (40, 9))),
        "bs": np.float32(0.003), "bz": np.int8(0), "c": rng.integers(-5000, 5000, 9).astype(np.int32),
        "ys": np.float32(0.3), "yz": np.uint8(99),
    }  # fmt: skip
    names = ["x", "as", "az", "b", "bs", "bz", "c", "ys", "yz"]
    node = helper.make_node("QGemm", names, ["y"], transB=turned, domain="com.microsoft")
    assert steps_of(node, inputs=[random(np.uint8, 3, 40)], constants=constants) == ["bytes"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(3, 40), (2, 5, 21)])
def test_products_of_onnxruntime_that_give_floats(steps_of: Any, shape: Any, dtype: Any) -> None:
    x, numbers = rng.standard_normal(shape).astype(np.float32), random(np.uint8, *shape)
    constants = {"w": random(dtype, shape[-1], 19), "s": rng.random(19).astype(np.float32), "z": random(dtype, 19)}
    constants |= {"b": rng.random(19).astype(np.float32), "t": np.float32(0.3), "one": np.uint8(131)}
    node = helper.make_node("DynamicQuantizeMatMul", ["x", "w", "s", "z", "b"], ["y"], domain="com.microsoft")
    assert steps_of(node, inputs=[x], constants=constants) == ["range", "quantize", "bytes"]
    for bias in ("", "b"):
        inputs = ["x", "w", "t", "s", "one", "z", bias]
        node = helper.make_node("MatMulIntegerToFloat", inputs, ["y"], domain="com.microsoft")
        assert steps_of(node, inputs=[numbers], constants=constants) == ["bytes"]


def test_a_range_without_an_end_makes_a_product_nan(steps_of: Any) -> None:
    constants = {"w": random(np.int8, 40, 19), "s": np.float32(0.3)}
    node = helper.make_node("DynamicQuantizeMatMul", ["x", "w", "s"], ["y"], domain="com.microsoft")
    for number in (np.nan, np.inf):
        x = rng.standard_normal((3, 40)).astype(np.float32)
        x[1, 39] = number
        assert steps_of(node, inputs=[x], constants=constants) == ["range", "quantize", "bytes"]


def scaled(source: str, weight: str, target: str, groups: int = 1) -> list[onnx.NodeProto]:
    """Floats as bytes of the scale that suits them, convolved, and as floats again, as quantize_dynamic writes it."""
    names = {name: f"{target}_{name}" for name in ("q", "s", "z", "sums", "floats", "scale")}
    return [
        helper.make_node("DynamicQuantizeLinear", [source], [names["q"], names["s"], names["z"]]),
        helper.make_node("ConvInteger", [names["q"], weight, names["z"], "wz"], [names["sums"]], group=groups),
        helper.make_node("Cast", [names["sums"]], [names["floats"]], to=TensorProto.FLOAT),
        helper.make_node("Mul", [names["s"], "ws"], [names["scale"]]),
        helper.make_node("Mul", [names["floats"], names["scale"]], [target]),
    ]


@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", "Identity"])
@pytest.mark.parametrize(("channels", "groups"), [(5, 1), (16, 1), (35, 1), (35, 35), (64, 64)])
@pytest.mark.parametrize("size", [(2, 5), (60, 50)])
def test_a_convolution_finds_the_range_of_its_floats(
    steps_of: Any, size: tuple[int, int], channels: int, groups: int, activation: str
) -> None:
    """The least and the greatest number of all tasks, panels and rows: the bits of what follows depend on them."""
    first, second = random(np.uint8, channels, channels // groups, 1, 1), random(np.uint8, 3, channels, 1, 1)
    constants = {"w": first, "w1": second, "wz": np.uint8(120), "ws": np.float32(0.01)}
    behind = helper.make_node(activation, ["a"], ["b"])
    x = rng.standard_normal((2, channels, *size)).astype(np.float32)
    x[1, channels - 1, size[0] - 1, size[1] - 1] = 40
    nodes = [*scaled("x", "w", "a", groups), behind, *scaled("b", "w1", "y")]
    steps = steps_of(*nodes, inputs=[x], constants=constants)
    assert [step for step in steps if step not in ("mul", "sigmoid")] == [
        "range",
        "quantize",
        "bytes",
        "quantize",
        "bytes",
    ]


def test_the_range_of_many_numbers_is_found_by_several_tasks(steps_of: Any) -> None:
    for shape in ((70_000,), (5, 40_001), (300, 401)):
        for place in (0, -1):
            x = rng.random(shape).astype(np.float32)
            x.reshape(-1)[place] = -7
            node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
            assert steps_of(node, inputs=[x], constants={}, outputs="y s z") == ["range", "quantize"]
