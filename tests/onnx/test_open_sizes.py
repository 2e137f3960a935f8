"""Sizes that depend on numbers: plans end in front of the operator that makes them, and the rest goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import TensorProto, helper

import kuiper
from tests.onnx.little_models import model, tensor

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

rng = np.random.default_rng(0)
node = helper.make_node


def loaded(file: ModelProto, folder: Path) -> kuiper.RuntimeGraph:
    """The model, read from a file."""
    path = folder / "model.onnx"
    onnx.save(file, path)
    return kuiper.load(path)


def rows_above_zero() -> ModelProto:
    """Rows of a product whose first number is above 0, times a matrix, and how many there are."""
    weights = {
        "first": rng.standard_normal((8, 16), np.float32),
        "second": rng.standard_normal((16, 4), np.float32),
        "zero": np.zeros((), np.float32),
        "column": np.zeros(1, np.int64),
        "flat": np.array([-1], np.int64),
    }
    nodes = [
        node("MatMul", ["x", "first"], ["sums"]),
        node("Gather", ["sums", "column"], ["scores"], axis=1),
        node("Greater", ["scores", "zero"], ["above"]),
        node("Reshape", ["above", "flat"], ["marks"]),
        node("Compress", ["sums", "marks"], ["kept"], axis=0),
        node("MatMul", ["kept", "second"], ["y"]),
        node("Shape", ["kept"], ["size"]),
    ]
    outputs = [tensor("y", "m", 4), tensor("sums", "n", 16), tensor("size", 2, kind=TensorProto.INT64)]
    return model(nodes, [tensor("x", "n", 8)], outputs, weights)


def test_plan_ends_in_front_of_sizes_that_depend_on_numbers(tmp_path: Path) -> None:
    file = rows_above_zero()
    graph, reference = loaded(file, tmp_path), onnx.reference.ReferenceEvaluator(file)
    answers: dict[int, list[np.ndarray]] = {}
    for seed in (0, 1, 2, 0, 1, 2):
        x = np.random.default_rng(seed).standard_normal((40, 8), np.float32)
        got = [output.array for output in graph(x)]
        for one, expected in zip(got, reference.run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-5)
            assert one.dtype == expected.dtype
        for one, before in zip(got, answers.setdefault(seed, got), strict=True):
            np.testing.assert_array_equal(one, before)
    algorithms = [row[2] for row in graph.plan(x).rows]
    assert algorithms.count("with all that follows") == 1
    assert any("panels" in algorithm for algorithm in algorithms)


def test_plan_ends_in_front_of_an_empty_tensor_for_the_shapes_that_make_it(tmp_path: Path) -> None:
    weights = {"matrix": rng.standard_normal((8, 8), np.float32), "from": np.array([2]), "to": np.array([99])}
    nodes = [
        node("MatMul", ["x", "matrix"], ["sums"]),
        node("ReduceMean", ["sums"], ["mean"], axes=[0], keepdims=1),
        node("Slice", ["x", "from", "to"], ["end"]),
        node("Shape", ["end"], ["size"]),
        node("Expand", ["mean", "size"], ["means"]),
        node("Concat", ["means", "sums"], ["y"], axis=0),
    ]
    file = model(nodes, [tensor("x", "n", 8)], [tensor("y", "m", 8)], weights)
    graph, reference = loaded(file, tmp_path), onnx.reference.ReferenceEvaluator(file)
    ends = []
    for rows in (2, 5, 1):
        x = rng.standard_normal((rows, 8), np.float32)
        np.testing.assert_allclose(graph(x).array, reference.run(None, {"x": x})[0], rtol=1e-5, atol=1e-5)
        ends.append([row[2] for row in graph.plan(x).rows].count("with all that follows"))
    assert ends == [1, 0, 1]


def test_outputs_behind_sizes_that_depend_on_numbers_are_the_callers_alone(tmp_path: Path) -> None:
    graph = loaded(rows_above_zero(), tmp_path)
    x = rng.standard_normal((40, 8), np.float32)
    first = [output.array.copy() for output in graph(x)]
    for output in graph(x):
        output.array[...] = 0
    for got, expected in zip(graph(x), first, strict=True):
        np.testing.assert_array_equal(got.array, expected)


def test_error_behind_sizes_that_depend_on_numbers_names_its_operator(tmp_path: Path) -> None:
    file = rows_above_zero()
    file.graph.node[5].input[0] = "marks"  # a product of bools
    graph = loaded(file, tmp_path)
    with pytest.raises(kuiper.KuiperError, match="MatMul"):
        graph(rng.standard_normal((40, 8), np.float32))


def halved(limit: bool) -> ModelProto:
    """x, and then half of it as long as that is above 1: how often, and the last."""
    body = helper.make_graph(
        [
            node("Mul", ["state", "half"], ["next"]),
            node("Greater", ["next", "one"], ["go_on"]),
            node("Identity", ["next"], ["row"]),
        ],
        "body",
        [tensor("turn", kind=TensorProto.INT64), tensor("going", kind=TensorProto.BOOL), tensor("state")],
        [tensor("go_on", kind=TensorProto.BOOL), tensor("next"), tensor("row")],
    )
    weights = {
        "half": np.float32(0.5),
        "one": np.float32(1),
        "limit": np.int64(2**62),
        "yes": np.array(True),
    }
    nodes = [
        node("Add", ["x", "one"], ["first"]),
        node("Loop", ["limit" if limit else "", "yes", "first"], ["last", "rows"], body=body),
        node("Mul", ["rows", "rows"], ["squares"]),
    ]
    return model(nodes, [tensor("x")], [tensor("last"), tensor("squares", "n")], weights)


@pytest.mark.parametrize("limit", [True, False])
def test_loop_that_its_condition_ends_may_make_other_turns_in_each_call(limit: bool, tmp_path: Path) -> None:
    graph = loaded(halved(limit), tmp_path)
    for x, turns in ((100.0, 7), (3.0, 2), (5000.0, 13), (100.0, 7)):
        last, squares = graph(np.float32(x))
        states = (np.float32(x) + 1) * np.float32(0.5) ** np.arange(1, turns + 1, dtype=np.float32)
        np.testing.assert_array_equal(squares.array, states * states)  # halves are exact
        np.testing.assert_array_equal(last.array, states[-1])


def test_loop_that_a_stand_in_would_keep_running_ends(tmp_path: Path) -> None:
    """Zeros stand in for numbers where a plan is made."""
    body = helper.make_graph(
        [node("Identity", ["state"], ["next"]), node("Equal", ["next", "zero"], ["go_on"])],
        "body",
        [tensor("turn", kind=TensorProto.INT64), tensor("going", kind=TensorProto.BOOL), tensor("state")],
        [tensor("go_on", kind=TensorProto.BOOL), tensor("next")],
    )
    weights = {"zero": np.float32(0), "yes": np.array(True), "matrix": rng.standard_normal((8, 1), np.float32)}
    nodes = [
        node("MatMul", ["x", "matrix"], ["sums"]),
        node("ReduceSum", ["sums"], ["first"], keepdims=0),
        node("Loop", ["", "yes", "first"], ["last"], body=body),
    ]
    graph = loaded(model(nodes, [tensor("x", 3, 8)], [tensor("last")], weights), tmp_path)
    x = rng.standard_normal((3, 8), np.float32)
    np.testing.assert_allclose(graph(x).array, (x @ weights["matrix"]).sum(), rtol=1e-5)
