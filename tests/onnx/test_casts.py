"""Casts between all types, and constants of all kinds."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

X = np.float32([0, -1.5, 2.75, 300, -300, 1e9, 0.3, 1 / 3])
node = helper.make_node
SMALL = ["FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1"]


@pytest.mark.parametrize("to", [*SMALL, "DOUBLE", "BOOL"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_cast_rounds_as_the_type_does(to: str, saturate: int) -> None:
    settings = {"saturate": saturate} if to.startswith("FLOAT8") else {}
    cast = node("Cast", ["x"], ["a"], to=getattr(TensorProto, to), **settings)
    back = node("Cast", ["a"], ["y"], to=TensorProto.FLOAT)
    check(model([cast, back], {"x": X}, ["y"], opset=23), {"x": X})
    check(model([cast, back], {"x": X.astype(np.float64)}, ["y"], opset=23), {"x": X.astype(np.float64)})


@pytest.mark.parametrize("to", ["INT4", "UINT4", "INT64", "INT32", "UINT16", "UINT32", "UINT64"])
def test_cast_to_integers(to: str) -> None:
    given = {"x": np.float32([0, 1.7, 3.2, 7])}
    nodes = [node("Cast", ["x"], ["a"], to=getattr(TensorProto, to)), node("Cast", ["a"], ["y"], to=TensorProto.INT32)]
    check(model(nodes, given, ["y"]), given)


@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
def test_cast_to_powers_of_two(round_mode: str) -> None:
    given = {"x": np.float32([1, 1.4, 1.5, 1.6, 3e38, np.inf, np.nan, 1e-30])}
    cast = node("Cast", ["x"], ["a"], to=TensorProto.FLOAT8E8M0, round_mode=round_mode)
    check(model([cast, node("Cast", ["a"], ["y"], to=TensorProto.FLOAT)], given, ["y"], opset=24), given)


def test_a_cast_that_changes_nothing_is_no_operator() -> None:
    half = {"x": X[:4].astype(np.float16)}
    nodes = [node("Cast", ["x"], ["a"], to=TensorProto.FLOAT), node("Cast", ["a"], ["b"], to=TensorProto.FLOAT)]
    proto = model([*nodes, node("Neg", ["b"], ["y"])], half, ["y"])
    assert operator_types(proto) == ["pnnx.Expression"]
    check(proto, half)


def test_bits_as_another_type() -> None:
    given = {"x": np.float32([1, -2])}
    proto = model([node("BitCast", ["x"], ["y"], to=TensorProto.INT32)], given, ["y"], opset=26)
    assert backend.run_model(proto, [given["x"]])[0].tolist() == [0x3F800000, -0x40000000]
    half = np.array([1, -2], ml_dtypes.bfloat16)
    bits = model([node("BitCast", ["x"], ["y"], to=TensorProto.UINT16)], {"x": half}, ["y"], opset=26)
    assert backend.run_model(bits, [half])[0].tolist() == [0x3F80, 0xC000]


@pytest.mark.parametrize(
    "settings",
    [{"value_float": 1.5}, {"value_floats": [1.5, 2]}, {"value_int": 3}, {"value_ints": [3, 4]}],
)
def test_constants_of_all_kinds(settings: dict[str, Any]) -> None:
    nodes = [node("Constant", [], ["c"], **settings), node("Cast", ["c"], ["d"], to=TensorProto.FLOAT)]
    given = {"x": np.float32([[2]])}
    check(model([*nodes, node("Mul", ["x", "d"], ["y"])], given, ["y"]), given)


def test_a_sparse_constant() -> None:
    values = helper.make_tensor("values", TensorProto.FLOAT, [2], [5, 7])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("places", TensorProto.INT64, [2], [1, 5]), [2, 3])
    given = {"x": np.zeros((2, 3), np.float32)}
    nodes = [node("Constant", [], ["c"], sparse_value=sparse), node("Add", ["x", "c"], ["y"])]
    assert backend.run_model(model(nodes, given, ["y"]), [given["x"]])[0].tolist() == [[0, 5, 0], [0, 0, 7]]


def test_numbers_from_a_generator_are_the_same_in_every_call() -> None:
    nodes = [node("RandomNormalLike", ["x"], ["a"], seed=3.0), node("RandomUniform", [], ["b"], shape=[2, 500])]
    x = np.zeros((2, 500), np.float32)
    ready = backend.prepare(model(nodes, {"x": x}, ["a", "b"], shapes={"x": ["n", 500]}))
    first, again = ready.run([x]), ready.run([x])
    assert np.array_equal(first, again)
    assert abs(first[0].mean()) < 0.2
    assert abs(first[1].mean() - 0.5) < 0.1
    assert len(ready.run([x[:1]])[0]) == 1


def test_what_is_no_number_is_refused() -> None:
    nodes = [node("Constant", [], ["y"], value_string="text")]
    with pytest.raises(KuiperError):
        backend.prepare(model(nodes, {"x": X}, ["y"]))
    with pytest.raises(KuiperError):
        backend.prepare(model([node("Range", ["x", "x", "x"], ["y"])], {"x": X}, ["y"])).run([X])
