"""Entries by index: indices that are inputs of changing number, from the end, outside; older operator sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from tests.onnx.beside_evaluator import check, model, operator_types

X = np.array([[3, 9, 1, 9], [4, 4, 8, 2], [7, 0, 7, 5]], np.float32)
node = helper.make_node


def places(*rows: Any) -> np.ndarray:
    return np.array(rows, np.int64)


def test_gather_elements_counts_from_the_end() -> None:
    proto = model([node("GatherElements", ["x", "i"], ["y"], axis=1)], {"x": X, "i": places([0], [-1], [2])}, ["y"])
    check(proto, {"x": X, "i": places([0], [-1], [2])}, {"x": X, "i": places([-4], [3], [1])})
    with pytest.raises(KuiperError):
        backend.run_model(proto, [X, places([0], [4], [0])])


def test_gather_of_changing_numbers_of_rows() -> None:
    proto = model([node("Gather", ["x", "i"], ["y"])], {"x": X, "i": places(0)}, ["y"], shapes={"i": ["k"]})
    check(proto, {"x": X, "i": places(0)}, {"x": X, "i": places(-1, 1, 0, 2)})


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters_of_all_reductions(reduction: str) -> None:
    by_axis = {"x": X, "i": places([0, 2], [-1, 1]), "u": np.float32([[6, 1], [5, 9]])}
    elements = node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, reduction=reduction)
    check(model([elements], by_axis, ["y"]), by_axis)
    by_row = {"x": X, "i": places([0], [2]), "u": np.float32([[6, 1, 9, 0], [5, 9, 0, 8]])}
    check(model([node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)], by_row, ["y"]), by_row)


def test_scatter_of_old_operator_sets_keeps_other_types() -> None:
    given = {"x": np.array([[1, 2, 3]], np.int32), "i": places([-1, 0]), "u": np.array([[8, 9]], np.int32)}
    proto = model([node("Scatter", ["x", "i", "u"], ["y"], axis=1)], given, ["y"], opset=10)
    got = backend.run_model(proto, list(given.values()))[0]
    assert (got.dtype, got.tolist()) == (np.int32, [[9, 2, 8]])


@pytest.mark.parametrize(("kind", "last"), [("ArgMax", 0), ("ArgMax", 1), ("ArgMin", 1)])
def test_arg_max_of_equals(kind: str, last: int) -> None:
    proto = model([node(kind, ["x"], ["y"], axis=1, select_last_index=last, keepdims=0)], {"x": X}, ["y"])
    check(proto, {"x": X})


def test_top_k_of_a_computed_number() -> None:
    given = {"x": X, "k": places(2)}
    proto = model([node("TopK", ["x", "k"], ["v", "i"], axis=1)], given, ["v", "i"], shapes={"k": [1]})
    for info in proto.graph.output:
        info.type.tensor_type.ClearField("shape")
    check(proto, {"x": np.sort(X), "k": places(2)}, {"x": np.sort(X), "k": places(3)})
    fixed = model([node("TopK", ["x", "k"], ["v", "i"], axis=0)], {"x": X}, ["v", "i"], {"k": places(1)})
    assert operator_types(fixed) == ["torch.topk"]


@pytest.mark.parametrize("settings", [{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}])
def test_running_totals(settings: dict[str, int]) -> None:
    for dtype in (np.float32, np.int32):
        given = {"x": X.astype(dtype)}
        proto = model([node("CumSum", ["x", "a"], ["y"], **settings)], given, ["y"], {"a": np.int64(-1)})
        check(proto, given)


def test_one_hot_and_non_zero() -> None:
    given = {"i": places(0, -1, 7)}
    weights = {"d": np.int64(4), "v": np.array([2, 5], np.int16)}
    check(model([node("OneHot", ["i", "d", "v"], ["y"], axis=0)], given, ["y"], weights, shapes={"i": ["n"]}), given)
    proto = model([node("NonZero", ["x"], ["y"])], {"x": X}, ["y"])
    check(proto, {"x": X}, {"x": np.maximum(X - 4, 0)})


def test_boxes_that_stay() -> None:
    generator = np.random.default_rng(0)
    corner = generator.random((2, 30, 2), np.float32)
    boxes = np.concatenate([corner, corner + generator.random((2, 30, 2), np.float32)], 2)
    given = {"b": boxes, "s": generator.random((2, 3, 30), np.float32)}
    weights = {"m": places(9), "o": np.float32([0.3]), "t": np.float32([0.2])}
    for centre in (0, 1):
        kept = node("NonMaxSuppression", ["b", "s", "m", "o", "t"], ["y"], center_point_box=centre)
        check(model([kept], given, ["y"], weights, shapes={"b": ["n", "k", 4], "s": ["n", 3, "k"]}), given)
    none = model([node("NonMaxSuppression", ["b", "s"], ["y"])], given, ["y"])
    assert backend.run_model(none, list(given.values()))[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("kind", "index", "updates"),
    [
        ("ScatterND", places([5]), np.zeros((1, 4), np.float32)),
        ("ScatterND", places([0, 0, 0]), np.zeros(1, np.float32)),
        ("ScatterElements", places([9]), np.zeros((1, 1), np.float32)),
        ("ScatterElements", places([0, 0]), np.zeros((1, 1), np.float32)),
    ],
)
def test_what_lies_outside_is_one_error(kind: str, index: np.ndarray, updates: np.ndarray) -> None:
    given = {"x": X, "i": index, "u": updates}
    proto = model([node(kind, ["x", "i", "u"], ["y"])], given, ["y"], shapes={"i": None, "u": None})
    with pytest.raises(KuiperError):
        backend.run_model(proto, list(given.values()))
