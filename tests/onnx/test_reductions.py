"""Reductions: axes as settings, constants and inputs, element types that stay, inputs without entries."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.arrays import ints
from tests.onnx.beside_evaluator import check, model, operator_types

KINDS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
X = np.linspace(0.5, 3, 24, dtype=np.float32).reshape(2, 3, 4)
WIDE = np.linspace(0.5, 2, 60, dtype=np.float32).reshape(5, 3, 4)
node = helper.make_node


@pytest.mark.parametrize("kind", KINDS)
def test_reductions_over_open_axes(kind: str) -> None:
    old = node(f"Reduce{kind}", ["x"], ["y"], axes=[0, -1], keepdims=0)
    check(model([old], {"x": X}, ["y"], opset=11, shapes={"x": ["n", 3, "w"]}), {"x": X}, {"x": WIDE}, exact=False)
    new = node(f"Reduce{kind}", ["x", "a"], ["y"])
    proto = model([new], {"x": X}, ["y"], {"a": ints(1)}, opset=18, shapes={"x": ["n", 3, "w"]})
    check(proto, {"x": X}, {"x": WIDE}, exact=False)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Sum"])
def test_reductions_keep_the_element_type(kind: str) -> None:
    reduce = node(f"Reduce{kind}", ["x"], ["y"], axes=[1])
    double = {"x": X.astype(np.float64)}
    check(model([reduce], double, ["y"], opset=13), double, exact=False)
    whole = np.array([[3, 4, 0]], np.int32)
    got = backend.run_model(model([reduce], {"x": whole}, ["y"], opset=13), [whole])[0]
    assert (got.dtype, got.shape) == (np.int32, (1, 1))


def test_axes_that_an_input_names() -> None:
    given = {"x": X, "a": ints(0, 2)}
    proto = model([node("ReduceMax", ["x", "a"], ["y"], keepdims=0)], given, ["y"], shapes={"a": ["k"]})
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    check(proto, given, {"x": WIDE, "a": ints(-1)})


def test_no_axes_mean_all_or_none() -> None:
    everything = model([node("ReduceSum", ["x"], ["y"])], {"x": X}, ["y"])
    check(everything, {"x": X}, exact=False)
    nothing = model([node("ReduceSumSquare", ["x"], ["y"], noop_with_empty_axes=1)], {"x": X}, ["y"])
    assert np.array_equal(backend.run_model(nothing, [X])[0], X * X)


def test_a_sum_of_floats_is_the_engines() -> None:
    proto = model([node("ReduceMean", ["x", "a"], ["y"])], {"x": X}, ["y"], {"a": ints(-1)})
    assert operator_types(proto) == ["torch.mean"]


@pytest.mark.parametrize(("kind", "expected"), [("Max", -np.inf), ("Min", np.inf), ("LogSumExp", -np.inf)])
def test_reductions_of_nothing(kind: str, expected: float) -> None:
    empty = np.zeros((2, 0), np.float32)
    proto = model([node(f"Reduce{kind}", ["x", "a"], ["y"])], {"x": empty}, ["y"], {"a": ints(1)})
    assert backend.run_model(proto, [empty])[0].tolist() == [[expected]] * 2


def test_an_axis_that_is_not_there_is_one_error() -> None:
    proto = model([node("ReduceSum", ["x", "a"], ["y"])], {"x": X}, ["y"], {"a": ints(5)}, shapes={"x": None})
    with pytest.raises(KuiperError):
        backend.run_model(proto, [X])
