"""ONNX's sums, pools, means, activations and concatenations of bytes in a plan: the bits of the layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from tests.engine.onnx_steps import random, rng


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(7,), (3, 520), (2, 5, 4, 6)])
def test_floats_to_bytes_and_back(steps_of: Any, shape: Any, dtype: Any) -> None:
    x = (rng.standard_normal(shape) * 8).astype(np.float32)
    x.reshape(-1)[:7] = [np.nan, np.inf, -np.inf, 0.25, 0.75, -0.25, -0.0]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"]),
        helper.make_node("DequantizeLinear", ["y", "s", "z"], ["f"]),
    ]
    for zero in (np.iinfo(dtype).min, 7, np.iinfo(dtype).max):
        constants = {"s": np.float32(0.5), "z": dtype(zero)}
        assert steps_of(*nodes, inputs=[x], constants=constants, outputs="y f") == ["quantize", "dequantize"]


def test_a_scale_for_each_entry_of_an_axis(steps_of: Any) -> None:
    x, constants = rng.standard_normal((2, 5, 4, 6)).astype(np.float32), {}
    for axis, count in ((1, 5), (-1, 6), (0, 2)):
        constants = {"s": rng.random(count).astype(np.float32) / 50, "z": random(np.uint8, count)}
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=axis),
            helper.make_node("DequantizeLinear", ["y", "s", "z"], ["f"], axis=axis),
        ]
        assert steps_of(*nodes, inputs=[x], constants=constants, outputs="y f") == ["quantize", "dequantize"]


def test_sums_of_32_bits_become_floats(steps_of: Any) -> None:
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"])
    x = rng.integers(-(2**31), 2**31, (3, 33)).astype(np.int32)
    assert steps_of(node, inputs=[x], constants={"s": np.float32(0.3)}) == ["dequantize"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(3, 33), (1, 5, 4, 7)])
def test_sums_of_bytes(steps_of: Any, shape: Any, dtype: Any) -> None:
    constants = {
        "as": np.float32(0.031), "az": random(dtype, 1)[0], "bs": np.float32(0.017), "bz": random(dtype, 1)[0],
        "cs": np.float32(0.04), "cz": random(dtype, 1)[0],
    }  # fmt: skip
    node = helper.make_node(
        "QLinearAdd", ["x", "as", "az", "x1", "bs", "bz", "cs", "cz"], ["y"], domain="com.microsoft"
    )
    inputs = [random(dtype, *shape), random(dtype, *shape)]
    assert steps_of(node, inputs=inputs, constants=constants) == ["sum"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        {"kernel_shape": [2, 3], "dilations": [2, 1], "auto_pad": "SAME_LOWER"},
        {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1},
    ],
)
def test_pools_of_bytes(steps_of: Any, settings: Any, dtype: Any) -> None:
    node, x = helper.make_node("MaxPool", ["x"], ["y"], **settings), random(dtype, 2, 19, 8, 9)
    assert steps_of(node, inputs=[x], constants={}) == ["max"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_means_of_bytes(steps_of: Any, dtype: Any) -> None:
    constants = {"s": np.float32(0.1), "z": random(dtype, 1)[0], "t": np.float32(0.09), "u": random(dtype, 1)[0]}
    node = helper.make_node("QLinearGlobalAveragePool", ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft")
    assert steps_of(node, inputs=[random(dtype, 2, 19, 5, 7)], constants=constants) == ["mean"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(1,), (3, 43), (2, 19, 5, 7), (70, 1000)])
def test_floats_to_bytes_and_back_at_a_known_scale(steps_of: Any, shape: Any, dtype: Any) -> None:
    x = (rng.standard_normal(shape) * 30).astype(np.float32)
    x.reshape(-1)[:7] = [np.nan, np.inf, -np.inf, 0.25, 0.75, -0.25, 1e38][: x.size]
    constants = {"s": np.float32(0.5), "z": dtype(-3 if dtype is np.int8 else 99), "t": np.float32(0.07)}
    nodes = [
        helper.make_node("Neg", ["x"], ["n"]),
        helper.make_node("QuantizeLinear", ["n", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "t", "z"], ["y"]),
    ]
    with np.errstate(all="ignore"):
        steps = steps_of(*nodes, inputs=[x], constants=constants, outputs="y q")
    assert steps[-2:] == ["quantize", "dequantize"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("scale", [0.1, 0.0737, 3.3, 1e-38, 1e36])
def test_quotients_next_to_the_middle_of_two_bytes_are_those_of_a_division(
    steps_of: Any, dtype: Any, scale: float
) -> None:
    """A product with 1 / scale would round some of them to the other side."""
    middles = ((np.arange(-300, 300) + 0.5) * np.float32(scale)).astype(np.float32)
    x = np.concatenate([middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(np.inf))])
    with np.errstate(all="ignore"):
        products, quotients = np.rint(x * (1 / np.float32(scale))), np.rint(x / np.float32(scale))
        assert np.any(products != quotients)
        constants = {"s": np.float32(scale), "z": dtype(5)}
        nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("QuantizeLinear", ["n", "s", "z"], ["y"])]
        assert steps_of(*nodes, inputs=[x], constants=constants)[-1] == "quantize"


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("word", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize(
    "shapes", [[(2, 7, 40), (7, 40)], [(40,), (3, 1, 1)], [(1,), (3, 50)], [(5, 1), (1, 300)], [(), (9,)]]
)
def test_arithmetic_of_bytes_that_broadcast(steps_of: Any, shapes: Any, word: str, dtype: Any) -> None:
    constants = {
        "as": np.float32(0.031), "az": random(dtype, 1)[0], "bs": np.float32(0.0173), "bz": random(dtype, 1)[0],
        "cs": np.float32(0.041 if word == "QLinearAdd" else 0.7), "cz": random(dtype, 1)[0],
        "a": random(dtype, *shapes[0]), "b": random(dtype, *shapes[1]),
    }  # fmt: skip
    name = "sum" if word == "QLinearAdd" else "product"
    for a, b in (("x", "x1"), ("a", "x"), ("x", "b")):
        given = {"x": shapes[1] if a == "a" else shapes[0], "x1": shapes[1]}
        inputs = [random(dtype, *given[operand]) for operand in (a, b) if operand in given]
        node = helper.make_node(word, [a, "as", "az", b, "bs", "bz", "cs", "cz"], ["y"], domain="com.microsoft")
        if all(x.shape for x in inputs):
            assert steps_of(node, inputs=inputs, constants=constants) == [name]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("word", ["QLinearAdd", "QLinearMul"])
def test_arithmetic_of_bytes_of_an_image_by_channels(steps_of: Any, word: str, dtype: Any) -> None:
    """Squeeze and excitation: behind a convolution, channels are neighbours."""
    constants = {
        "s": np.float32(0.02), "z": dtype(3), "w": random(np.int8, 21, 9, 1, 1), "t": np.float32(0.001),
        "zero": np.int8(0), "ys": np.float32(0.3), "g": random(dtype, 21, 1, 1),
    }  # fmt: skip
    nodes = [
        helper.make_node("QLinearConv", ["x", "s", "z", "w", "t", "zero", "ys", "z"], ["c"]),
        helper.make_node(word, ["g", "s", "z", "c", "ys", "z", "ys", "z"], ["y"], domain="com.microsoft"),
    ]
    steps = steps_of(*nodes, inputs=[random(dtype, 2, 9, 6, 7)], constants=constants)
    assert steps == ["bytes", "sum" if word == "QLinearAdd" else "product"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("opset", [12, 13])
@pytest.mark.parametrize("shape", [(3, 5, 17), (20, 2, 300), (2, 9, 2)])
def test_softmax_of_bytes(steps_of: Any, shape: Any, opset: int, axis: int, dtype: Any) -> None:
    names = ["x", "s", "z", "t", "u"]
    node = helper.make_node("QLinearSoftmax", names, ["y"], domain="com.microsoft", axis=axis, opset=opset)
    for step, scale in ((1 / 256, 0.11), (1 / 100, 0.004), (1 / 200, 1.5)):
        constants = {"s": np.float32(scale), "z": dtype(7), "t": np.float32(step), "u": random(dtype, 1)[0]}
        assert steps_of(node, inputs=[random(dtype, *shape)], constants=constants) == ["softmax"]


def test_softmax_of_bytes_whose_exponentials_overflow_is_left_to_the_layer(steps_of: Any) -> None:
    node = helper.make_node("QLinearSoftmax", ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft", opset=13)
    constants = {"s": np.float32(0.1), "z": np.uint8(0), "t": np.float32(1 / 3000), "u": np.uint8(0)}
    with np.errstate(all="ignore"):
        assert steps_of(node, inputs=[random(np.uint8, 5, 1)], constants=constants) == ["layer"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER", "count_include_pad": 1},
        {"kernel_shape": [2, 4], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 0, 1], "count_include_pad": 1},
    ],
)
def test_mean_pools_of_bytes(steps_of: Any, settings: Any, last: int, dtype: Any) -> None:
    constants = {"s": np.float32(0.05), "z": dtype(7), "t": np.float32(0.013), "u": dtype(12)}
    names = ["x", "s", "z", "t", "u"]
    node = helper.make_node("QLinearAveragePool", names, ["y"], domain="com.microsoft", channels_last=last, **settings)
    assert steps_of(node, inputs=[random(dtype, 2, 8, 9, 19)], constants=constants) == ["mean"]


def test_sums_of_all_pairs_lie_as_the_product_behind_them_reads_them(steps_of: Any) -> None:
    """Additive attention: vectors plus vectors, then a product along them; no copy lies between."""
    constants = {"w": random(np.int8, 21, 1), "rows": np.int64([2]), "columns": np.int64([1])}
    nodes = [
        helper.make_node("Unsqueeze", ["x", "rows"], ["k"]),
        helper.make_node("Unsqueeze", ["x1", "columns"], ["l"]),
        helper.make_node("Add", ["k", "l"], ["a"]),
        helper.make_node("DynamicQuantizeLinear", ["a"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["y"]),
    ]
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in ((1, 7, 21), (1, 7, 21))]
    assert steps_of(*nodes, inputs=inputs, constants=constants, copies=True) == ["add", "range", "quantize", "bytes"]


def pixels(*shape: int, dtype: Any) -> np.ndarray:
    """An image of bytes with all of them, if it is large enough."""
    count = int(np.prod(shape))
    return np.resize(rng.permutation(256).astype(np.uint8), count).view(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(9,), (3, 300), (2, 5, 13, 11), (1, 3, 120, 99)])
def test_activations_of_bytes(steps_of: Any, shape: Any, dtype: Any) -> None:
    constants = {"s": np.float32(0.05), "z": dtype(17), "t": np.float32(0.004), "o": dtype(3)}
    for kind in ("QLinearSigmoid", "QLinearLeakyRelu"):
        node = helper.make_node(kind, ["x", "s", "z", "t", "o"], ["y"], domain="com.microsoft")
        assert steps_of(node, inputs=[pixels(*shape, dtype=dtype)], constants=constants) == ["bytes"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_tensors_of_bytes_side_by_side(steps_of: Any, axis: int, dtype: Any) -> None:
    """Both as they come from outside, and with channels side by side, as a convolution leaves them."""
    constants = {"s": np.float32(0.05), "z": dtype(17), "t": np.float32(0.03), "o": dtype(3), "u": np.float32(0.07)}
    constants |= {"w": random(np.int8, 6, 6, 1, 1), "v": np.float32(0.002), "n": np.int8(0)}
    inputs = []
    for k in range(2):
        shape = [2, 6, 7, 5]
        shape[axis] += 3 * k if axis != 1 else 0
        inputs.append(pixels(*shape, dtype=dtype))
    join = ["x", "s", "z", "x1", "t", "o", "x", "u", "z"] if axis != 1 else ["x", "s", "z", "x1", "t", "o"]
    node = helper.make_node("QLinearConcat", ["u", "o", *join], ["y"], domain="com.microsoft", axis=axis)
    assert steps_of(node, inputs=inputs, constants=constants) == ["bytes"] * (len(join) // 3)
    convolution = helper.make_node("QLinearConv", ["x", "s", "z", "w", "v", "n", "t", "o"], ["c"])
    join = ["c", "t", "o", "x1", "s", "z"]
    node = helper.make_node("QLinearConcat", ["u", "o", *join], ["y"], domain="com.microsoft", axis=axis)
    assert steps_of(convolution, node, inputs=inputs, constants=constants) == ["bytes"] * 3
