"""Files that spell quantisation with QuantizeLinear and DequantizeLinear: what they become, how far numbers move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import kuiper
from kuiper.graph.whole_multiples import whole_multiples
from kuiper.layers import Layer, override
from tests.engine.models import algorithms, plan_of
from tests.graph.quantized_net import Net, rng, types

if TYPE_CHECKING:
    from pathlib import Path


def moved(path: Path, x: np.ndarray) -> tuple[list[str], float, float]:
    """The operators that are left; by how many steps the bytes that are returned have moved, and what share of them."""
    fast, plain = kuiper.load(path), kuiper.load(path, optimize=False)
    got, expected = np.asarray(fast(x)).astype(int), np.asarray(plain(x)).astype(int)
    far = np.abs(got - expected)
    return types(fast), float(far.max()), float((far > 0).mean())


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [None, 0])
def test_a_residual_block_moves_by_one_step_at_most(tmp_path: Path, axis: int | None, dtype: Any) -> None:
    net, low = Net(), int(np.iinfo(dtype).min)
    net.dequantize(net.quantize("x", "q", 0.02, low + 120, dtype), "a")
    first = net.weights("w", 8, 3, 3, 3, axis=axis)
    net.node("Conv", ["a", first, net.bias("b", 8, "q", "w")], "c", pads=[1, 1, 1, 1])
    net.node("Relu", ["c"], "d")
    net.dequantize(net.quantize("d", "e", 0.05, low, dtype), "f")
    second = net.weights("v", 8, 8, 3, 3, axis=axis)
    net.node("Conv", ["f", second, net.bias("h", 8, "e", "v")], "g", pads=[1, 1, 1, 1])
    net.dequantize(net.quantize("g", "i", 0.3, low + 128, dtype), "j")
    net.node("Add", ["j", "f"], "k")
    net.node("Relu", ["k"], "l")
    net.quantize("l", "y", 0.25, low, dtype)
    x = rng.standard_normal((2, 3, 9, 7)).astype(np.float32)
    left, steps, share = moved(net.save(tmp_path, x.shape), x)
    assert left == ["QuantizeLinear", "kuiper.QuantizedConv", "kuiper.QuantizedConv", "kuiper.QuantizedAdd"]
    assert steps <= 1
    assert share < 0.01


@pytest.mark.parametrize("bias", [False, True])
def test_products_of_matrices(tmp_path: Path, bias: bool) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    inputs = ["a", net.weights("w", 40, 9)]
    if bias:
        net.node("Gemm", [*inputs, net.bias("b", 9, "q", "w")], "c")
    else:
        net.node("MatMul", inputs, "c")
    net.quantize("c", "y", 0.25, 100)
    x = rng.standard_normal((6, 40)).astype(np.float32)
    left, steps, share = moved(net.save(tmp_path, x.shape), x)
    assert left == ["QuantizeLinear", "kuiper.QuantizedLinear"]
    assert steps <= 1
    assert share < 0.05


def test_weights_with_a_zero_point(tmp_path: Path) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    net.node("Conv", ["a", net.weights("w", 5, 4, 3, dtype=np.uint8)], "c", strides=[2])
    net.quantize("c", "y", 0.1, 100)
    x = rng.standard_normal((2, 4, 30)).astype(np.float32)
    left, steps, _ = moved(net.save(tmp_path, x.shape), x)
    assert left == ["QuantizeLinear", "kuiper.QuantizedConv"]
    assert steps <= 1


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    ("kind", "shape", "scale", "left"),
    [
        ("MatMul", (2, 3, 17, 17), 0.4, "QLinearMatMul"),
        ("Mul", (2, 3, 17, 5), 0.05, "QLinearMul"),
        ("Concat", (2, 3, 8, 5), 0.03, "QLinearConcat"),
    ],
)
def test_two_tensors_that_the_graph_computes(
    tmp_path: Path, kind: str, shape: tuple[int, ...], scale: float, left: str, dtype: Any
) -> None:
    net, low = Net(), int(np.iinfo(dtype).min)
    inputs = [net.dequantize(net.quantize("x", f"q{k}", 0.02 + k / 100, low + 110 + k, dtype), f"d{k}") for k in (0, 1)]
    net.quantize(net.node(kind, inputs, "f", **({"axis": 1} if kind == "Concat" else {})), "y", scale, low + 128, dtype)
    types_left, steps, share = moved(net.save(tmp_path, shape), rng.standard_normal(shape).astype(np.float32))
    assert types_left == ["QuantizeLinear", "QuantizeLinear", left]
    assert steps <= (0 if kind == "Concat" else 1)
    assert share < 0.01


def test_a_mean_of_an_image(tmp_path: Path) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    net.quantize(net.node("GlobalAveragePool", ["a"], "c"), "y", 0.004, 99)
    x = rng.standard_normal((2, 21, 9, 8)).astype(np.float32)
    types_left, steps, share = moved(net.save(tmp_path, x.shape), x)
    assert types_left == ["QuantizeLinear", "QLinearGlobalAveragePool"]
    assert steps <= 1
    assert share < 0.05


def test_a_product_of_bytes_of_other_types_stays(tmp_path: Path) -> None:
    net = Net()
    first = net.dequantize(net.quantize("x", "p", 0.02, 120), "a")
    second = net.dequantize(net.quantize("x", "q", 0.02, 3, np.int8), "b")
    net.quantize(net.node("Mul", [first, second], "c"), "y", 0.05, 99)
    x = rng.standard_normal((2, 21)).astype(np.float32)
    assert "QLinearMul" not in types(kuiper.load(net.save(tmp_path, x.shape)))


@pytest.mark.parametrize("same", [False, True])
def test_pools_of_one_scale(tmp_path: Path, same: bool) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    net.node("MaxPool", ["a"], "c", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0])
    net.quantize("c", "y", 0.02 if same else 0.03, 120)
    x = rng.standard_normal((2, 5, 9, 8)).astype(np.float32)
    left, steps, _ = moved(net.save(tmp_path, x.shape), x)
    assert ("MaxPool" in left) == same
    assert steps == 0


MOVES: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "Reshape": ("Tensor.reshape", [np.int64([2, 4, -1, 6])], {}),
    "Transpose": ("Tensor.permute", [], {"perm": [0, 2, 3, 1]}),
    "Slice": ("Tensor.slice", [np.int64([1]), np.int64([7]), np.int64([1]), np.int64([2])], {}),
    "Flatten": ("torch.flatten", [], {}),
    "Unsqueeze": ("torch.unsqueeze", [np.int64([0])], {}),
    "Resize": (
        "F.interpolate", [np.float32([]), np.float32([1, 1, 3, 2])],
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", MOVES)
def test_what_only_moves_numbers_moves_bytes(tmp_path: Path, kind: str, dtype: Any) -> None:
    """Between a convolution and another one; other bytes behind it are rounded once more."""
    left, operands, settings = MOVES[kind]
    for same in (True, False):
        net, low = Net(), int(np.iinfo(dtype).min)
        net.dequantize(net.quantize("x", "q", 0.02, low + 120, dtype), "a")
        net.node("MaxPool", ["a"], "p", kernel_shape=[1, 1])
        net.dequantize(net.quantize("p", "r", 0.02, low + 120, dtype), "b")
        constants = [net.constant(f"k{i}", array) for i, array in enumerate(operands)]
        net.node(kind, ["b", *constants], "c", **settings)
        net.quantize("c", "y", 0.02 if same else 0.03, low + 120, dtype)
        x = (rng.standard_normal((2, 8, 3, 6)) * 2).astype(np.float32)
        path = net.save(tmp_path, x.shape)
        fast = kuiper.load(path)
        assert (types(fast) == ["QuantizeLinear", "MaxPool", left]) == same
        expected = ReferenceEvaluator(onnx.load(path)).run(None, {"x": x})[0]
        np.testing.assert_array_equal(np.asarray(fast(x)), expected)
        assert not same or "layer" not in algorithms(plan_of(fast, [x]))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("number", [0.0, -1.234, 0.07, 500.0, -500.0])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_a_border_is_made_of_bytes(tmp_path: Path, mode: str, number: float, dtype: Any) -> None:
    for same in (True, False):
        net, low = Net(), int(np.iinfo(dtype).min)
        net.dequantize(net.quantize("x", "q", 0.02, low + 120, dtype), "a")
        net.node("MaxPool", ["a"], "p", kernel_shape=[1, 1])
        net.dequantize(net.quantize("p", "r", 0.02, low + 120, dtype), "b")
        ends = [net.constant("pads", np.int64([0, 0, 1, 0, 0, 0, 2, 3])), net.constant("number", np.float32(number))]
        net.node("Pad", ["b", *ends], "c", mode=mode)
        net.quantize("c", "y", 0.02 if same else 0.03, low + 120, dtype)
        x = (rng.standard_normal((2, 8, 3, 6)) * 2).astype(np.float32)
        path = net.save(tmp_path, x.shape)
        fast = kuiper.load(path)
        assert (types(fast) == ["QuantizeLinear", "MaxPool", "F.pad"]) == same
        expected = ReferenceEvaluator(onnx.load(path)).run(None, {"x": x})[0]
        np.testing.assert_array_equal(np.asarray(fast(x)), expected)
        assert not same or "layer" not in algorithms(plan_of(fast, [x]))


def test_a_border_without_a_number_is_left_alone(tmp_path: Path) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    net.node("Pad", ["a", net.constant("pads", np.int64([1, 0])), net.constant("number", np.float32(np.nan))], "c")
    net.quantize("c", "y", 0.02, 120)
    assert types(kuiper.load(net.save(tmp_path, (5,)))) == ["pnnx.Expression", "F.pad", "QuantizeLinear"]


@pytest.mark.parametrize("sizes", [[2, 5, 1], [4, 4]])
def test_a_split_is_one_of_bytes_if_all_pieces_are(tmp_path: Path, sizes: list[int]) -> None:
    for scales in ([0.02] * len(sizes), [0.03, *[0.02] * (len(sizes) - 1)], [*[0.02] * (len(sizes) - 1), 0.03]):
        net, outputs = Net(), [f"y{k}" for k in range(len(sizes))]
        net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
        pieces = [f"c{k}" for k in range(len(sizes))]
        net.nodes.append(helper.make_node("Split", ["a", net.constant("sizes", np.int64(sizes))], pieces, axis=1))
        for piece, output, scale in zip(pieces, outputs, scales, strict=True):
            net.quantize(piece, output, scale, 120)
        x = rng.standard_normal((2, 8, 3)).astype(np.float32)
        path = net.save(tmp_path, x.shape, " ".join(outputs))
        fast = kuiper.load(path)
        assert (types(fast) == ["QuantizeLinear", "torch.split"]) == (len(set(scales)) == 1)
        expected = ReferenceEvaluator(onnx.load(path)).run(None, {"x": x})
        for ours, theirs in zip(fast(x), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_a_split_whose_piece_is_read_as_floats_is_left_alone(tmp_path: Path) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    net.nodes.append(helper.make_node("Split", ["a", net.constant("sizes", np.int64([3, 5]))], ["b", "z"], axis=1))
    net.quantize("b", "y", 0.02, 120)
    left = types(kuiper.load(net.save(tmp_path, (2, 8), "y z")))
    assert left == ["pnnx.Expression", "torch.split", "QuantizeLinear"]


def test_bytes_at_another_size_that_is_no_multiple_are_left_to_the_layer(tmp_path: Path) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    net.constant("none", np.float32([])), net.constant("scales", np.float32([1, 1, 1.5, 2]))
    settings = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    net.node("Resize", ["a", "none", "scales"], "c", **settings)
    net.quantize("c", "y", 0.02, 120)
    x = rng.standard_normal((2, 8, 4, 6)).astype(np.float32)
    path = net.save(tmp_path, x.shape)
    expected = ReferenceEvaluator(onnx.load(path)).run(None, {"x": x})[0]
    np.testing.assert_array_equal(np.asarray(kuiper.load(path)(x)), expected)


def test_what_is_only_rounded_becomes_an_expression(tmp_path: Path) -> None:
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.5, 3), "a")
    net.node("Sigmoid", ["a"], "y")
    x = np.array([[0.25, 0.75, -0.25, 1e9, -1e9, 0.3, -0.0]], np.float32)
    path = net.save(tmp_path, x.shape)
    fast, plain = kuiper.load(path), kuiper.load(path, optimize=False)
    assert "QuantizeLinear" not in types(fast)
    assert "DequantizeLinear" not in types(fast)
    np.testing.assert_allclose(np.asarray(fast(x)), np.asarray(plain(x)), rtol=1e-6)


def conv_net(**changes: Any) -> tuple[Net, tuple[int, ...]]:
    """A convolution between bytes, with something about it that the pass cannot take."""
    net = Net()
    net.dequantize(net.quantize("x", "q", 0.02, 120), "a")
    weight = net.weights("w", 5, 4, 3, 3)
    if changes.get("floats"):
        weight = net.constant("other", rng.standard_normal((5, 4, 3, 3)).astype(np.float32))
    net.node("Conv", ["a", weight], "c")
    if changes.get("clip"):
        net.node("Clip", ["c", net.constant("low", np.float32(-1)), net.constant("high", np.float32(1))], "d")
    net.quantize("d" if changes.get("clip") else "c", "y", 0.1, 100)
    return net, (1, 4, 6, 6)


@pytest.mark.parametrize(
    ("changes", "outputs"),
    [({"floats": True}, "y"), ({"clip": True}, "y"), ({}, "y c")],
    ids=["floats", "clip", "read"],
)
def test_what_is_left_alone(tmp_path: Path, changes: dict[str, Any], outputs: str) -> None:
    net, shape = conv_net(**changes)
    assert "kuiper.QuantizedConv" not in types(kuiper.load(net.save(tmp_path, shape, outputs)))


@pytest.mark.parametrize("type_name", ["nn.Conv2d", "QuantizeLinear", "kuiper.QuantizedConv"])
def test_a_students_layer_is_called(tmp_path: Path, type_name: str) -> None:
    net, shape = conv_net()
    path = net.save(tmp_path, shape)
    assert "kuiper.QuantizedConv" in types(kuiper.load(path))
    with override(type_name, Layer):
        assert "nn.Conv2d" in types(kuiper.load(path))


@pytest.mark.parametrize("count", [1, 9, 700])
def test_weights_are_found_to_be_whole_multiples(count: int) -> None:
    for most in (127, 255):
        numbers = rng.integers(-most, most + 1, (6, count))
        numbers[:, 0] = most
        for steps in (np.float32([0.0123]), rng.random(6).astype(np.float32) + np.float32(1e-4)):
            weight = numbers.astype(np.float32) * steps[:, None]
            found = whole_multiples(weight)
            assert found is not None
            np.testing.assert_allclose(found[0] * found[1][:, None].astype(np.float64), weight, rtol=1e-6)
            assert np.abs(found[0]).max() <= 255
    assert whole_multiples(rng.standard_normal((4, 30)).astype(np.float32)) is None
    assert whole_multiples(np.float32([[np.nan, 1]])) is None
    zeros = whole_multiples(np.zeros((3, 4), np.float32))
    assert zeros is not None
    assert not zeros[0].any()
