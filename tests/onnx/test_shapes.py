"""Views and the sizes they are made of: open sizes, constant and computed shapes, older operator sets."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.arrays import ints
from tests.onnx.beside_evaluator import check, model, operator_types

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
WIDE = np.arange(60, dtype=np.float32).reshape(5, 3, 4)
node = helper.make_node


def flattened_by_computed_sizes() -> list:
    """x.reshape(x.shape[0], x.shape[1] * 4), as exporters write it."""
    return [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["n"]),
        node("Unsqueeze", ["n", "axis"], ["n1"]),
        node("Concat", ["n1", "rest"], ["to"], axis=0),
        node("Reshape", ["x", "to"], ["y"]),
    ]


def test_reshape_computes_its_shape_in_each_call() -> None:
    weights = {"zero": np.array(0, np.int64), "axis": ints(0), "rest": ints(2, -1)}
    proto = model(flattened_by_computed_sizes(), {"x": X}, ["y"], weights, shapes={"x": ["n", "c", 4]})
    check(proto, {"x": np.concatenate([X, X], 1)}, {"x": np.concatenate([WIDE, WIDE], 1)})


def test_sizes_that_are_known_leave_no_operator() -> None:
    weights = {"zero": np.array(0, np.int64), "axis": ints(0), "rest": ints(-1)}
    proto = model(flattened_by_computed_sizes(), {"x": X}, ["y"], weights)
    assert operator_types(proto) == ["Tensor.reshape"]
    check(proto, {"x": X})


@pytest.mark.parametrize("shape", [[0, -1], [0, 0, 2, 2], [-1], [4, 0, -1]])
def test_reshape_keeps_sizes_for_zeros(shape: list[int]) -> None:
    proto = model([node("Reshape", ["x", "s"], ["y"])], {"x": X}, ["y"], {"s": ints(*shape)}, shapes={"x": ["n", 3, 4]})
    check(proto, {"x": X}, {"x": np.concatenate([WIDE, WIDE[:1]])})


def test_reshape_of_nothing() -> None:
    empty = np.zeros((2, 0, 4), np.float32)
    proto = model([node("Reshape", ["x", "s"], ["y"])], {"x": empty}, ["y"], {"s": ints(0, -1)})
    assert backend.run_model(proto, [empty])[0].shape == (2, 0)


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
def test_flatten_with_open_sizes(axis: int) -> None:
    proto = model([node("Flatten", ["x"], ["y"], axis=axis)], {"x": X}, ["y"], shapes={"x": ["n", 3, "w"]})
    check(proto, {"x": X}, {"x": WIDE})


def test_axes_are_settings_in_old_operator_sets() -> None:
    nodes = [node("Unsqueeze", ["x"], ["a"], axes=[0, 4]), node("Squeeze", ["a"], ["y"], axes=[0])]
    check(model(nodes, {"x": X}, ["y"], opset=11, shapes={"x": ["n", 3, 4]}), {"x": X}, {"x": WIDE})


def test_axes_may_be_computed() -> None:
    nodes = [node("Unsqueeze", ["x", "axes"], ["y"]), node("Squeeze", ["y", "axes"], ["z"])]
    proto = model(nodes, {"x": X, "axes": ints(0, 2)}, ["y", "z"], shapes={"axes": [2]})
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    proto.graph.output[1].type.tensor_type.ClearField("shape")
    check(proto, {"x": X, "axes": ints(0, 2)}, {"x": X, "axes": ints(1, -1)})


@pytest.mark.parametrize("shape", [[2, 1, 1], [7, 1, 3, 4], [1], [3, 1]])
def test_expand_broadcasts_both_ways(shape: list[int]) -> None:
    proto = model([node("Expand", ["x", "s"], ["y"])], {"x": X}, ["y"], {"s": ints(*shape)})
    check(proto, {"x": X})
    computed = model([node("Expand", ["x", "s"], ["y"])], {"x": X, "s": ints(*shape)}, ["y"])
    check(computed, {"x": X, "s": ints(*shape)})


def test_tile_and_transpose_follow_open_sizes() -> None:
    nodes = [node("Tile", ["x", "times"], ["a"]), node("Transpose", ["a"], ["y"])]
    proto = model(nodes, {"x": X}, ["y"], {"times": ints(1, 2, 1)}, shapes={"x": ["n", "c", "w"]})
    check(proto, {"x": X}, {"x": WIDE})


@pytest.mark.parametrize(
    ("kind", "inputs", "settings"),
    [
        ("Reshape", ["x", "s"], {}),
        ("Unsqueeze", ["x", "s"], {}),
        ("Expand", ["x", "s"], {}),
        ("Transpose", ["x"], {"perm": [0, 0, 1]}),
        ("Flatten", ["x"], {"axis": 9}),
    ],
)
def test_what_does_not_fit_is_one_error(kind: str, inputs: list[str], settings: dict) -> None:
    graph = model([node(kind, inputs, ["y"], **settings)], {"x": X}, ["y"], {"s": ints(5, 7, 9)}, shapes={"x": None})
    with pytest.raises(KuiperError):
        backend.run_model(graph, [X])
