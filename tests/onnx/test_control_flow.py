"""If, Loop and Scan beside onnx's own evaluator."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from onnx import TensorProto, helper

import kuiper
from kuiper.errors import KuiperError
from kuiper.graph import pnnx
from kuiper.layers import Layer, override
from kuiper.onnx.reader import read_onnx
from tests.onnx.models import assert_agrees, loaded, model_of

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64


def branch(name: str, op: str, source: str = "x") -> helper.GraphProto:
    output = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, None)
    return helper.make_graph([helper.make_node(op, [source], [f"{name}_y"])], name, [], [output])


def condition_model(source: str = "c") -> helper.ModelProto:
    node = helper.make_node(
        "If", [source], ["y"], then_branch=branch("then", "Relu"), else_branch=branch("else", "Neg")
    )
    return model_of([node], [("c", [], BOOL), ("x", ["n", 4])], [("y", ["n", 4])])


def test_if_takes_the_branch_that_a_call_asks_for() -> None:
    assert_agrees(condition_model(), (np.array(True), X), (np.array(False), X), (np.array(True), X[:1]))


@pytest.mark.parametrize(("c", "kind"), [(True, "F.relu"), (False, "pnnx.Expression")])
def test_if_with_a_known_condition_is_decided_when_the_file_is_read(c: bool, kind: str) -> None:
    graph = read_onnx(condition_model(), {"c": c})
    assert [op.type for op in graph.operators] == ["pnnx.Input", kind, "pnnx.Output"]


def test_if_on_the_size_of_a_closed_axis_is_decided_when_the_file_is_read() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], start=1, end=2),
        helper.make_node("Equal", ["s", "four"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch("then", "Relu"), else_branch=branch("else", "Neg")),
    ]
    model = model_of(nodes, [("x", ["n", 4])], [("y", ["n", 4])], {"four": np.array([4])})
    assert [op.type for op in read_onnx(model).operators] == ["pnnx.Input", "F.relu", "pnnx.Output"]
    assert_agrees(model, (X,))


def test_bodies_with_the_same_names_inside_do_not_meet() -> None:
    nodes = [
        helper.make_node("If", ["c"], ["a"], then_branch=branch("b", "Relu"), else_branch=branch("b", "Neg")),
        helper.make_node("If", ["c"], ["y"], then_branch=branch("b", "Exp", "a"), else_branch=branch("b", "Neg", "a")),
    ]
    model = model_of(nodes, [("c", [], BOOL), ("x", ["n", 4])], [("y", ["n", 4])])
    assert_agrees(model, (np.array(True), X), (np.array(False), X))
    np.testing.assert_allclose(loaded(model, c=True).forward(X), np.exp(np.maximum(X, 0)), rtol=1e-6)


def loop_model(weights: dict[str, object] | None = None) -> helper.ModelProto:
    """v = v * w + x, and each v as a row, as often as ``m`` says, while the sum of v is below 100."""
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["v", "w"], ["scaled"]),
            helper.make_node("Add", ["scaled", "x"], ["next"]),
            helper.make_node("ReduceSum", ["next"], ["sum"], keepdims=0),
            helper.make_node("Less", ["sum", "limit"], ["again"]),
            helper.make_node("Identity", ["next"], ["row"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT64, []),
            helper.make_tensor_value_info("c", BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [4]),
        ],
        [
            helper.make_tensor_value_info("again", BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [4]),
            helper.make_tensor_value_info("row", TensorProto.FLOAT, [4]),
        ],
    )
    node = helper.make_node("Loop", ["m", "", "v0"], ["v_last", "rows"], body=body)
    numbers = {"w": np.float32([1.5, 1, 0.5, 2]), "limit": np.float32(100), **(weights or {})}
    inputs = [("m", [], INT64), ("v0", [4]), ("x", [4])]
    return model_of([node], inputs, [("v_last", [4]), ("rows", ["m", 4])], numbers)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("m", [1, 3, 50])
def test_loop_runs_until_its_limit_or_its_condition(m: int, optimize: bool) -> None:
    v, x, w = np.float32([1, 2, 3, 4]), np.float32([0, 1, 0, 1]), np.float32([1.5, 1, 0.5, 2])
    last, rows = loaded(loop_model(), optimize).forward(np.array(m), v, x)
    expected = []  # onnx's own evaluator does not take a loop without a first condition
    while len(expected) < m and v.sum() < 100:
        v = v * w + x
        expected.append(v)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(last, v)


def test_loop_that_never_runs_gives_no_rows() -> None:
    last, rows = loaded(loop_model()).forward(np.array(0), np.ones(4, np.float32), np.zeros(4, np.float32))
    assert last.tolist() == [1, 1, 1, 1]
    assert rows.shape == (0, 4)


def passing_on_model(identities: int, weight_is_constant: bool, has_row: bool = True) -> helper.ModelProto:
    """v = v @ w + b, ``m`` times, with w and b as states that the body gives on as it gets them, as TensorFlow's do."""
    names = ["w", *(f"w{i}" for i in range(identities))]
    rows = [helper.make_tensor_value_info("row", TensorProto.FLOAT, [1, 4])] if has_row else []
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            *(helper.make_node("Identity", [old], [new]) for old, new in itertools.pairwise(names)),
            helper.make_node("MatMul", ["v", "w"], ["product"]),
            helper.make_node("Add", ["product", "b"], ["next"]),
            helper.make_node("Identity", ["next"], ["row"]),
            helper.make_node("Identity", ["c"], ["again"]),
        ],
        "body",
        [
            info("i", INT64, []),
            info("c", BOOL, []),
            *(info(name, TensorProto.FLOAT, shape) for name, shape in (("w", [4, 4]), ("v", [1, 4]), ("b", [4]))),
        ],
        [
            info("again", BOOL, []),
            *(info(n, TensorProto.FLOAT, shape) for n, shape in ((names[-1], [4, 4]), ("next", [1, 4]), ("b", [4]))),
            *rows,
        ],
    )
    outputs = [("w_last", [4, 4]), ("v_last", [1, 4]), ("b_last", [4]), ("rows", ["m", 1, 4])][: 3 + has_row]
    node = helper.make_node("Loop", ["m", "c0", "w0_", "v0", "b0"], [name for name, _ in outputs], body=body)
    given = [] if weight_is_constant else [("w0_", [4, 4])]
    inputs = [("m", [], INT64), ("v0", [1, 4]), ("b0", [4]), *given]
    weights = {"c0": np.array(True), **({"w0_": W} if weight_is_constant else {})}
    return model_of([node], inputs, outputs, weights)


@pytest.mark.parametrize("weight_is_constant", [True, False])
@pytest.mark.parametrize("identities", [0, 1, 2])
def test_loop_passes_on_what_no_turn_changes(identities: int, weight_is_constant: bool) -> None:
    b, more = np.float32([1, 0, -1, 2]), () if weight_is_constant else (W,)
    model = passing_on_model(identities, weight_is_constant, has_row=False)
    assert_agrees(model, *((np.array(m), X[:1], b, *more) for m in (3, 1, 2)), tolerance=1e-5)


@pytest.mark.parametrize("optimize", [True, False])
def test_loop_gives_rows_beside_what_no_turn_changes(optimize: bool) -> None:
    graph, b = loaded(passing_on_model(1, True), optimize), np.float32([1, 0, -1, 2])
    for m in (3, 1):
        v, expected = X[:1], []  # onnx's own evaluator joins rows along their first axis
        for _ in range(m):
            v = v @ W + b
            expected.append(v)
        w, last, b_last, rows = graph.forward(np.array(m), X[:1], b)
        np.testing.assert_array_equal(w, W)
        np.testing.assert_array_equal(b_last, b)
        np.testing.assert_allclose(last, v, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(rows, expected, rtol=1e-5, atol=1e-5)


def test_loop_multiplies_by_a_constant_that_no_turn_changes_as_a_linear_layer() -> None:
    (loop,) = (op for op in read_onnx(passing_on_model(1, True)).operators if op.type == "Loop")
    assert loop.params["states"].value == 1
    assert "nn.Linear" in [op.type for op in loop.graphs["body"].operators]


def test_loop_of_which_nothing_changes_is_left_out() -> None:
    info = helper.make_tensor_value_info
    typed = [info("c", BOOL, []), info("v", TensorProto.FLOAT, [4])]
    body = helper.make_graph([], "body", [info("i", INT64, []), *typed], typed)
    node = helper.make_node("Loop", ["m", "c0", "v0"], ["y"], body=body)
    model = model_of([node], [("m", [], INT64), ("v0", [4])], [("y", [4])], {"c0": np.array(True)})
    assert "Loop" not in [op.type for op in read_onnx(model).operators]
    assert_agrees(model, (np.array(2), X[0]))


def test_loop_outputs_are_the_callers_alone() -> None:
    graph, b = loaded(passing_on_model(0, False)), np.zeros(4, np.float32)
    w, v, b_last, rows = graph.forward(np.array(1), X[:1], b, W)
    for array in (w, v, b_last, rows):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in (X, W, b))
    assert not np.shares_memory(v, rows)


@pytest.mark.parametrize("optimize", [True, False])
def test_scan_passes_on_what_no_row_changes(optimize: bool) -> None:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("MatMul", ["r", "w"], ["row"]), helper.make_node("Identity", ["w"], ["w_next"])],
        "body",
        [info("w", TensorProto.FLOAT, [4, 4]), info("r", TensorProto.FLOAT, [4])],
        [info("w_next", TensorProto.FLOAT, [4, 4]), info("row", TensorProto.FLOAT, [4])],
    )
    node = helper.make_node("Scan", ["w0", "x"], ["w_last", "y"], body=body, num_scan_inputs=1)
    model = model_of([node], [("x", ["n", 4])], [("w_last", [4, 4]), ("y", ["n", 4])], {"w0": W})
    (scan,) = (op for op in read_onnx(model).operators if op.type == "Scan")
    assert scan.params["states"].value == 0
    w, y = loaded(model, optimize).forward(X)
    np.testing.assert_array_equal(w, W)
    np.testing.assert_allclose(y, X @ W, rtol=1e-5, atol=1e-6)


def test_scan_runs_once_for_each_row_in_both_directions() -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "r"], ["next"]), helper.make_node("Mul", ["next", "r"], ["row"])],
        "body",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "sr"],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("next", "row")],
    )
    settings = {"scan_input_axes": [1], "scan_input_directions": [1], "scan_output_axes": [1]}
    node = helper.make_node("Scan", ["s0", "x"], ["s", "y"], num_scan_inputs=1, body=body, **settings)
    model = model_of([node], [("s0", [3]), ("x", [3, "t"])], [("s", [3]), ("y", [3, "t"])])
    (last, rows) = loaded(model).forward(np.zeros(3, np.float32), X)
    states = np.cumsum(X[:, ::-1], axis=1)
    np.testing.assert_allclose(last, states[:, -1], rtol=1e-6)
    np.testing.assert_allclose(rows, states * X[:, ::-1], rtol=1e-6)


def test_models_with_bodies_can_be_copied_and_pickled() -> None:
    model = loaded(condition_model())
    sent = copy.deepcopy(model)
    np.testing.assert_array_equal(sent.forward(np.array(False), X), -X)
    graph = kuiper.load(read_onnx(condition_model()))
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.forward(np.array(True), X), np.maximum(X, 0))


def test_operators_in_bodies_call_a_students_layer() -> None:
    class Loud(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            return x + 7

    with override("F.relu", Loud):
        model = loaded(condition_model())
    np.testing.assert_array_equal(model.forward(np.array(True), X), X + 7)


def test_a_pnnx_file_refuses_bodies() -> None:
    with pytest.raises(KuiperError, match=r"expected an operator without bodies.*load the \.onnx file itself"):
        pnnx.format_param(read_onnx(condition_model()))


def test_error_in_a_body_names_its_operator() -> None:
    model = loaded(loop_model())
    with pytest.raises(KuiperError, match=r"Loop .*'Mul_scaled'"):
        model.forward(np.array(2), np.ones(3, np.float32), np.ones(4, np.float32))


def test_a_loop_that_never_runs_gives_rows_of_its_own_type() -> None:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["go"]), helper.make_node("Identity", ["i"], ["row"])],
        "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, [])],
        [info("go", TensorProto.BOOL, []), info("row", TensorProto.INT64, [])],
    )
    node = helper.make_node("Loop", ["n", ""], ["rows"], body=body)
    graph = helper.make_graph([node], "g", [info("n", TensorProto.INT64, [])], [info("rows", TensorProto.INT64, ["t"])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for optimize in (True, False):
        model = kuiper.load(lambda: read_onnx(made), optimize=optimize)
        for count in (0, 3, 0):
            rows = model.forward(np.array(count))
            assert rows.dtype == np.int64
            np.testing.assert_array_equal(rows, np.arange(count))
