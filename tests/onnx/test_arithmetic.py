"""Arithmetic, comparisons and activations: constants, older operator sets, types that torch's layers do not take."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)
OPEN = {"x": ["n", 3, "w"]}
WIDE = np.linspace(-2, 2, 45, dtype=np.float32).reshape(5, 3, 3)
ACTIVATIONS = {
    "Celu": {"alpha": 0.7},
    "Elu": {"alpha": 0.7},
    "Gelu": {"approximate": "tanh"},
    "HardSigmoid": {"alpha": 0.3},
    "HardSwish": {},
    "LeakyRelu": {"alpha": 0.2},
    "Mish": {},
    "Relu": {},
    "Selu": {"alpha": 1.5},
    "Shrink": {"lambd": 1.0, "bias": 0.25},
    "Sigmoid": {},
    "Softplus": {},
    "Softsign": {},
    "Tanh": {},
    "ThresholdedRelu": {"alpha": 0.5},
}
node = helper.make_node


@pytest.mark.parametrize(("kind", "settings"), ACTIVATIONS.items())
def test_activations_in_float32_and_float64(kind: str, settings: dict[str, float]) -> None:
    act = node(kind, ["x"], ["y"], **settings)
    check(model([act], {"x": X}, ["y"], opset=22, shapes=OPEN), {"x": X}, {"x": WIDE}, exact=False)
    double = {"x": X.astype(np.float64)}
    check(model([act], double, ["y"], opset=22), double, exact=False)


@pytest.mark.parametrize("shape", [(3, 1), (1, 3, 1), (1,), (4,), (2, 1, 1)])
def test_prelu_by_channel_and_otherwise(shape: tuple[int, ...]) -> None:
    slope = np.linspace(0.1, 0.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    check(model([node("PRelu", ["x", "s"], ["y"])], {"x": X}, ["y"], {"s": slope}), {"x": X})


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, np.float64])
def test_arithmetic_keeps_the_element_type(dtype: type[np.generic]) -> None:
    given = {"x": np.array([[7, 5, 100]], dtype), "y": np.array([[2], [3]], dtype)}
    names = ["Add", "Sub", "Mul", "Div", "Mod", "Max", "Pow"][:: 1 if np.dtype(dtype).itemsize > 1 else 2]
    nodes = [node(kind, ["x", "y"], [kind]) for kind in names]
    check(model(nodes, given, names, opset=13), given, exact=np.dtype(dtype).kind != "f")


def test_a_constant_number_is_part_of_the_expression() -> None:
    proto = model([node("Mul", ["x", "c"], ["y"])], {"x": X}, ["y"], {"c": np.float32(0.1)}, shapes=OPEN)
    check(proto, {"x": X}, {"x": WIDE})
    assert operator_types(proto) == ["pnnx.Expression"]


def test_pow_of_mixed_types() -> None:
    whole = {"x": np.array([1, 2, 3], np.int64)}
    check(model([node("Pow", ["x", "e"], ["y"])], whole, ["y"], {"e": np.array([2.0, 0.5, 3.0], np.float32)}), whole)
    given = {"x": np.array([1.5, 2, 3], np.float32)}
    check(model([node("Pow", ["x", "e"], ["y"])], given, ["y"], {"e": np.int64(2)}), given)


def test_clip_by_settings_constants_and_inputs() -> None:
    old = model([node("Clip", ["x"], ["y"], min=-1.0, max=2.0)], {"x": X}, ["y"], opset=7)
    assert np.array_equal(backend.run_model(old, [X])[0], X.clip(-1, 2))
    check(
        model([node("Clip", ["x", "a"], ["y"])], {"x": X}, ["y"], {"a": np.float32(-1)}, shapes=OPEN),
        {"x": X},
        {"x": WIDE},
    )
    given = {"x": X, "b": np.float32(0.5)}
    check(model([node("Clip", ["x", "", "b"], ["y"])], given, ["y"]), given)


def test_one_and_many_inputs() -> None:
    nodes = [node(kind, ["x", "y", "x"], [kind]) for kind in ("Max", "Min", "Sum", "Mean")]
    given = {"x": X, "y": X[:1, ::-1].copy()}
    check(model(nodes, given, ["Max", "Min", "Sum", "Mean"]), given, exact=False)
    check(model([node("Max", ["x"], ["y"])], {"x": X}, ["y"]), {"x": X})


def test_truth_of_scalars_and_nothing() -> None:
    given = {"x": np.float32(2), "y": np.zeros((0, 3), np.float32)}
    nodes = [node("Greater", ["x", "y"], ["g"]), node("Not", ["g"], ["n"]), node("Where", ["n", "x", "y"], ["w"])]
    check(model(nodes, given, ["g", "n", "w"]), given)


def test_dropout_gives_a_mask_of_the_type_of_its_operator_set() -> None:
    for opset, dtype in ((7, np.float32), (10, np.bool_), (13, np.bool_)):
        proto = model([node("Dropout", ["x"], ["y", "m"])], {"x": X}, ["y", "m"], opset=opset)
        y, mask = backend.run_model(proto, [X])
        assert np.array_equal(y, X)
        assert mask.dtype == dtype
        assert mask.all()


def test_shapes_that_do_not_broadcast_are_one_error() -> None:
    given = {"x": X, "y": np.zeros(5, np.float32)}
    proto = model([node("Add", ["x", "y"], ["z"])], given, ["z"], shapes={"x": None, "y": None})
    with pytest.raises(KuiperError):
        backend.run_model(proto, list(given.values()))


def test_a_constant_beyond_63_bits_is_no_word_of_an_expression() -> None:
    given = {"x": np.array([2**63 + 5, 7], np.uint64)}
    check(model([node("Add", ["x", "c"], ["y"])], given, ["y"], {"c": np.uint64(2**63 + 1)}), given)
