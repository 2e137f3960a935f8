"""Numbers as steps of a scale: per axis and block, weights that are stored as steps, open sizes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((2, 4, 6)).astype(np.float32) * 20
WIDE = GENERATOR.standard_normal((5, 4, 6)).astype(np.float32) * 20
node = helper.make_node


def steps(*shape: int, dtype: type = np.uint8) -> np.ndarray:
    info = np.iinfo(dtype)
    return GENERATOR.integers(info.min, info.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_steps_and_back(dtype: type) -> None:
    weights = {"s": np.float32(0.37), "z": np.array(3, dtype)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    check(model(nodes, {"x": X}, ["q", "y"], weights, shapes={"x": ["n", 4, 6]}), {"x": X}, {"x": WIDE})


@pytest.mark.parametrize(("scales", "settings"), [((4,), {"axis": 1}), ((2, 4, 3), {"axis": -1, "block_size": 2})])
def test_scales_of_an_axis_and_of_blocks(scales: tuple[int, ...], settings: dict[str, int]) -> None:
    weights = {"s": GENERATOR.random(scales, np.float32) + 0.1, "z": steps(*scales, dtype=np.int8)}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], **settings),
        node("DequantizeLinear", ["q", "s", "z"], ["y"], **settings),
    ]
    check(model(nodes, {"x": X}, ["q", "y"], weights), {"x": X})


def test_steps_of_four_bits() -> None:
    weights = {"s": np.float32(4)}
    nodes = [
        node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=TensorProto.INT4),
        node("DequantizeLinear", ["q", "s"], ["y"]),
    ]
    check(model(nodes, {"x": X}, ["y"], weights), {"x": X})


def test_weights_that_are_stored_as_steps_are_constants() -> None:
    weights = {"w": steps(6, 1024, 1024, dtype=np.int8), "s": np.float32(0.01)}
    nodes = [node("DequantizeLinear", ["w", "s"], ["f"]), node("Add", ["x", "f"], ["y"])]
    proto = model(nodes, {"x": X[0, 0, :1]}, ["y"], weights)
    assert "DequantizeLinear" not in operator_types(proto)


def test_products_of_steps() -> None:
    given = {"a": steps(2, 5, 16), "b": steps(16, 7)}
    weights = {"az": np.uint8(120), "bz": np.uint8(3), "s": np.float32(0.02), "r": np.float32(9), "z": np.uint8(7)}
    whole = node("MatMulInteger", ["a", "b", "az", "bz"], ["y"])
    check(
        model([whole], given, ["y"], weights, shapes={"a": ["n", "m", 16]}),
        given,
        {"a": steps(3, 1, 16), "b": given["b"]},
    )
    scaled = node("QLinearMatMul", ["a", "s", "az", "b", "s", "bz", "r", "z"], ["y"])
    check(model([scaled], given, ["y"], weights), given)


def test_convolutions_of_steps() -> None:
    given = {"x": steps(1, 4, 7, 9), "w": steps(6, 2, 3, 3, dtype=np.int8)}
    weights = {"xz": np.uint8(120), "wz": np.int8(0), "s": np.float32(0.02), "r": np.float32(7), "z": np.uint8(7)}
    weights |= {"ws": GENERATOR.random(6, np.float32), "wzs": np.zeros(6, np.int8), "b": np.arange(6, dtype=np.int32)}
    settings = {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]}
    whole = node("ConvInteger", ["x", "w", "xz"], ["y"], **settings)
    check(model([whole], given, ["y"], weights, opset=10), given)
    scaled = node("QLinearConv", ["x", "s", "xz", "w", "ws", "wzs", "r", "z", "b"], ["y"], **settings)
    check(model([scaled], given, ["y"], weights, opset=10), given)


@pytest.mark.parametrize("x", [X, np.zeros((2, 3), np.float32), np.abs(X) + 1])
def test_steps_of_a_scale_that_fits(x: np.ndarray) -> None:
    proto = model([node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])], {"x": x}, ["q", "s", "z"])
    q, scale, zero = backend.run_model(proto, [x])
    assert (q.dtype, scale.dtype, zero.dtype, scale.shape, zero.shape) == (np.uint8, np.float32, np.uint8, (), ())
    assert np.abs((q.astype(np.float32) - zero) * scale - x).max() <= scale / 2 + 1e-6


def test_scales_that_do_not_fit_are_one_error() -> None:
    proto = model([node("QuantizeLinear", ["x", "s"], ["y"], axis=1)], {"x": X}, ["y"], {"s": np.ones(3, np.float32)})
    with pytest.raises(KuiperError):
        backend.run_model(proto, [X])
