"""ONNX's operators on bytes in a plan: no stop in Python, and the numbers of the layers, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
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


@pytest.fixture
def steps_of(tmp_path: Path) -> Any:
    """What runs between import and export for these nodes; the engine must give the bits of the layers."""

    def run(
        *nodes: onnx.NodeProto,
        inputs: list[np.ndarray],
        constants: dict[str, Any],
        outputs: str = "y",
        opset: int = 21,
        copies: bool = False,
    ) -> list[str]:
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
        path, opsets = (
            tmp_path / "model.onnx",
            [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)],
        )
        onnx.save(helper.make_model(graph, opset_imports=opsets), path)
        fast, plain = kuiper.load(path), kuiper.load(path, optimize=False)
        results = [model(*inputs) for model in (fast, plain)]
        pairs = zip(*(result if isinstance(result, tuple) else (result,) for result in results), strict=True)
        for got, expected in pairs:
            assert np.asarray(got).dtype == np.asarray(expected).dtype
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))
        left_out = ("import", "export") if copies else ("import", "export", "copy")
        return [word for word in algorithms(plan_of(fast, inputs)) if word not in left_out]

    return run


def random(dtype: Any, *shape: int) -> np.ndarray:
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)


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
