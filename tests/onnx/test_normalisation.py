"""Normalisations and softmaxes: constant and computed weights, float64, older operator sets."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

RNG = np.random.default_rng(0)
node = helper.make_node


def numbers(*shape: int, dtype: type[np.generic] = np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_normalization(rank: int, dtype: type[np.generic]) -> None:
    weights = {name: np.abs(numbers(3, dtype=dtype)) + dtype(0.1) for name in "sbmv"}
    x = {"x": numbers(2, 3, *[4] * (rank - 2), dtype=dtype)}
    norm = node("BatchNormalization", ["x", *weights], ["y"], epsilon=1e-3)
    check(model([norm], x, ["y"], weights, opset=15), x, exact=False)
    check(model([norm], x | weights, ["y"], opset=15), x | weights, exact=False)


def test_batch_normalization_of_operator_set_9_names_outputs_that_nobody_reads() -> None:
    weights = {name: np.abs(numbers(3)) + np.float32(0.1) for name in "sbmv"}
    x = numbers(2, 3, 4, 4)
    norm = node("BatchNormalization", ["x", *weights], ["y", "m2", "v2", "m3", "v3"])
    got = backend.run_model(model([norm], {"x": x}, ["y"], weights, opset=9), [x])[0]
    s, b, m, v = (weight.reshape(3, 1, 1) for weight in weights.values())
    np.testing.assert_allclose(got, (x - m) / np.sqrt(v + 1e-5) * s + b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [-1, -2, 1])
def test_layer_norm_by_shape_of_the_scale(axis: int) -> None:
    x, wide = ({"x": numbers(n, 3, 4)} for n in (2, 5))
    weights = {"s": numbers(*x["x"].shape[axis:]), "b": numbers(*x["x"].shape[axis:])}
    norm = node("LayerNormalization", ["x", "s", "b"], ["y"], axis=axis)
    proto = model([norm], x, ["y"], weights, opset=17, shapes={"x": ["n", 3, 4]})
    check(proto, x, wide, exact=False)
    assert operator_types(proto) == ["nn.LayerNorm"]
    check(model([norm], x | weights, ["y"], opset=17), x | weights, exact=False)
    rms = node("RMSNormalization", ["x", "s"], ["y"], axis=axis)
    check(model([rms], x, ["y"], {"s": weights["s"]}, opset=23), x, exact=False)


def test_layer_norm_whose_scale_broadcasts() -> None:
    x = {"x": numbers(2, 3, 4)}
    norm = node("LayerNormalization", ["x", "s"], ["y"], axis=1)
    got = backend.run_model(model([norm], x, ["y"], {"s": numbers(4)}, opset=17), [x["x"]])[0]
    assert got.shape == (2, 3, 4)


@pytest.mark.parametrize("opset", [18, 21])
def test_group_norm_weighs_groups_and_since_21_channels(opset: int) -> None:
    x = {"x": numbers(2, 4, 3, 3)}
    weights = {name: numbers(2 if opset == 18 else 4) for name in "sb"}
    norm = node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)
    check(model([norm], x, ["y"], weights, opset=opset), x, exact=False)


@pytest.mark.parametrize("size", [3, 4])
def test_lrn_of_odd_and_even_windows(size: int) -> None:
    x, norm = numbers(2, 6, 3, 3), node("LRN", ["x"], ["y"], size=size, alpha=0.1)
    got = backend.run_model(model([norm], {"x": x}, ["y"]), [x])[0]
    double = x.astype(np.float64)
    expected = np.empty_like(double)
    for c in range(6):  # the evaluator looks at as many channels as there are samples
        around = double[:, max(0, c - (size - 1) // 2) : c + size // 2 + 1]
        expected[:, c] = double[:, c] / (1 + 0.1 / size * (around**2).sum(1)) ** 0.75
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert backend.run_model(model([norm], {"x": double}, ["y"]), [double])[0].dtype == np.float64


@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmaxes_before_and_since_13(kind: str, axis: int) -> None:
    x, wide = ({"x": numbers(n, 3, 4)} for n in (2, 5))
    shapes = {"x": ["n", 3, 4]}
    check(model([node(kind, ["x"], ["y"], axis=axis)], x, ["y"], opset=13, shapes=shapes), x, wide, exact=False)
    old = backend.prepare(model([node(kind, ["x"], ["y"], axis=axis)], x, ["y"], opset=11, shapes=shapes))
    flat = model([node(kind, ["x"], ["y"], axis=-1)], {"x": x["x"].reshape(2, -1)}, ["y"], shapes={"x": ["r", "c"]})
    for given in (x, wide):
        array = given["x"]
        rows = array.reshape(int(np.prod(array.shape[: axis % 3], dtype=np.int64)), -1)
        expected = backend.run_model(flat, [rows])[0].reshape(array.shape)
        np.testing.assert_allclose(old.run([array])[0], expected, rtol=1e-5, atol=1e-6)


def test_an_axis_that_no_tensor_has_is_one_error() -> None:
    graph = helper.make_graph(
        [node("LayerNormalization", ["x", "s"], ["y", "m", "i"], axis=2**31)],
        "far",
        [helper.make_tensor_value_info(name, 1, (2, 3)) for name in "xs"],
        [helper.make_tensor_value_info(name, 1, None) for name in "ymi"],
    )
    with pytest.raises(KuiperError, match="an axis within 64"):
        backend.prepare(helper.make_model(graph))
