"""Products of bytes with the scale behind them, as tools for dynamic quantisation write them, as one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import kuiper
from kuiper.layers import Layer, override
from tests.engine.models import algorithms, plan_of

if TYPE_CHECKING:
    from pathlib import Path

CONV, MATMUL = "kuiper.FusedConvInteger", "kuiper.FusedMatMulInteger"


class Net:
    """A network of one product: its nodes, and its constants by name."""

    def __init__(self, kind: str, *weight_shape: int, zero: int = 3) -> None:
        self.rng = np.random.default_rng(0)
        self.constants = {
            "w": self.rng.integers(-127, 128, weight_shape).astype(np.int8),
            "w_zero": np.int8(zero),
            "w_scale": np.float32(0.01),
        }
        self.nodes = [
            helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
            helper.make_node(kind, ["q", "w", "z", "w_zero"], ["sums"]),
        ]
        self.last = "sums"

    def then(self, kind: str, other: str = "", **settings: Any) -> Net:
        """Another node behind the last one."""
        inputs = [self.last, *([other] if other else [])]
        self.last = f"{self.last}_{kind.lower()}"
        self.nodes.append(helper.make_node(kind, inputs, [self.last], **settings))
        return self

    def cast(self) -> Net:
        return self.then("Cast", to=TensorProto.FLOAT)

    def scaled(self, *shape: int) -> Net:
        """By the scale of the input times that of the weights, one or as many as the shape has."""
        if shape:
            self.constants["w_scale"] = self.rng.random(shape).astype(np.float32)
        self.nodes.append(helper.make_node("Mul", ["s", "w_scale"], ["scale"]))
        return self.then("Mul", "scale")

    def plus(self, *shape: int) -> Net:
        name = f"bias{len(self.nodes)}"
        self.constants[name] = self.rng.standard_normal(shape).astype(np.float32)
        return self.then("Add", name)

    def save(self, path: Path, shape: tuple[int, ...], more: str = "") -> Path:
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, 0, None) for name in (self.last, *more.split())],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in self.constants.items()],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), path / "net.onnx")
        return path / "net.onnx"


def types(model: Any) -> list[str]:
    ends = ("pnnx.Input", "pnnx.Output", "pnnx.Attribute", "DynamicQuantizeLinear")
    return [op.type for op in model.operators if op.type not in ends]


def same_bits(path: Path, shape: tuple[int, ...]) -> Any:
    """The model, which has to give the bits of the file's own operators, on its layers and on the engine."""
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    fused, plain = kuiper.load(path), kuiper.load(path, optimize=False)
    expected = np.asarray(plain(x))
    np.testing.assert_array_equal(np.asarray(fused(x)), expected)
    readable = kuiper.load(path, optimize=False, passes=["fuse_scales_into_integer_products"])
    np.testing.assert_array_equal(np.asarray(readable(x)), expected)
    steps = algorithms(plan_of(fused, [x]))
    assert "layer" not in steps
    return fused


@pytest.mark.parametrize("shape", [(2, 21), (2, 3, 21), (21,)])
@pytest.mark.parametrize(("scales", "biased"), [((), True), ((11,), True), ((1,), False)])
def test_a_product_of_matrices(tmp_path: Path, shape: tuple[int, ...], scales: tuple[int, ...], biased: bool) -> None:
    net = Net("MatMulInteger", 21, 11).cast().scaled(*scales)
    path = (net.plus(11) if biased else net).save(tmp_path, shape)
    assert MATMUL in types(same_bits(path, shape))
    assert "Tensor.to" not in types(kuiper.load(path))


@pytest.mark.parametrize("scales", [(), (5, 1, 1), (1, 5, 1, 1)])
def test_a_convolution_its_bias_and_its_activation(tmp_path: Path, scales: tuple[int, ...]) -> None:
    net = Net("ConvInteger", 5, 3, 3, 3).cast().scaled(*scales).plus(1, 5, 1, 1).then("Relu")
    model = same_bits(net.save(tmp_path, (2, 3, 8, 7)), (2, 3, 8, 7))
    (op,) = [op for op in model.operators if op.type == CONV]
    assert op.str_param("activation") == "relu"
    assert op.name.endswith("+mul+add+relu")


def test_a_convolution_along_one_axis(tmp_path: Path) -> None:
    net = Net("ConvInteger", 5, 3, 3).cast().scaled().plus(5, 1)
    assert CONV in types(same_bits(net.save(tmp_path, (2, 3, 17)), (2, 3, 17)))


def test_a_bias_in_integers(tmp_path: Path) -> None:
    """As tools wrote it once: over the scale, which is known in the run, and rounded down."""
    net = Net("ConvInteger", 5, 3, 3, 3)
    net.constants |= {"b": net.rng.standard_normal(5).astype(np.float32), "as": np.int64([1, 5, 1, 1])}
    net.nodes += [
        helper.make_node("Mul", ["s", "w_scale"], ["t"]),
        helper.make_node("Div", ["b", "t"], ["b1"]),
        helper.make_node("Floor", ["b1"], ["b2"]),
        helper.make_node("Cast", ["b2"], ["b3"], to=TensorProto.INT32),
        helper.make_node("Reshape", ["b3", "as"], ["b4"]),
    ]
    path = net.then("Add", "b4").cast().scaled().save(tmp_path, (1, 3, 8, 7))
    model = same_bits(path, (1, 3, 8, 7))
    (op,) = [op for op in model.operators if op.type == CONV]
    assert len(op.inputs) == 6


def test_what_comes_between_other_tensors_is_left_to_them(tmp_path: Path) -> None:
    """A residual is no bias: it stays an addition."""
    net = Net("ConvInteger", 3, 3, 1, 1).cast().scaled().then("Add", "x")
    assert types(same_bits(net.save(tmp_path, (1, 3, 8, 7)), (1, 3, 8, 7)))[-2:] == [CONV, "pnnx.Expression"]


def test_sums_that_others_read_stay(tmp_path: Path) -> None:
    for more in ("sums", "sums_cast"):
        net = Net("MatMulInteger", 21, 11).cast().scaled()
        assert MATMUL not in types(kuiper.load(net.save(tmp_path, (2, 21), more)))


@pytest.mark.parametrize("shape", [(3, 1), (1, 1, 11), (2, 3, 1)])
def test_scales_of_rows_or_with_more_axes_stay(tmp_path: Path, shape: tuple[int, ...]) -> None:
    net, x = Net("MatMulInteger", 21, 11).cast().scaled(*shape), (3, 21)
    path = net.save(tmp_path, x)
    assert MATMUL not in types(kuiper.load(path))


def test_a_bias_that_both_read_stays_for_the_other(tmp_path: Path) -> None:
    net = Net("MatMulInteger", 21, 11).cast().scaled().plus(11)
    (name,) = [name for name in net.constants if name.startswith("bias")]
    net.then("Mul", name)
    assert MATMUL in types(same_bits(net.save(tmp_path, (2, 21)), (2, 21)))


@pytest.mark.parametrize("type_name", ["MatMulInteger", "Tensor.to", "pnnx.Expression", MATMUL])
def test_a_students_layer_is_called(tmp_path: Path, type_name: str) -> None:
    path = Net("MatMulInteger", 21, 11).cast().scaled().save(tmp_path, (2, 21))
    assert MATMUL in types(kuiper.load(path))
    with override(type_name, Layer):
        assert MATMUL not in types(kuiper.load(path))
