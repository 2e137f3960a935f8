"""Loops that read a row in each turn: what does not depend on the turn before is computed at once."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from kuiper.errors import KuiperError
from kuiper.onnx.reader import read_onnx
from tests.onnx.models import assert_agrees, loaded, model_of
from tests.onnx.test_control_flow import BOOL, INT64


def recurrent_model(counts: bool = True, axis: int = 0) -> helper.ModelProto:
    """h = tanh(x[t] @ w + h @ u), as long as t is below n; ``t`` goes up by one, or by two."""
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Add", ["t", "step"], ["next_t"]),
            helper.make_node("Gather", ["x", "t"], ["row"], axis=axis),
            helper.make_node("MatMul", ["row", "w"], ["given"]),
            helper.make_node("MatMul", ["h", "u"], ["kept"]),
            helper.make_node("Add", ["given", "kept"], ["sum"]),
            helper.make_node("Tanh", ["sum"], ["next_h"]),
            helper.make_node("Less", ["next_t", "n"], ["again"]),
        ],
        "body",
        [info("i", INT64, []), info("c", BOOL, []), info("t", INT64, []), info("h", TensorProto.FLOAT, [2, 6])],
        [
            info("again", BOOL, []),
            info("next_t", INT64, []),
            info("next_h", TensorProto.FLOAT, [2, 6]),
        ],
    )
    nodes = [
        helper.make_node("Less", ["t0", "n"], ["c0"]),
        helper.make_node("Loop", ["", "c0", "t0", "h0"], ["t_last", "h_last"], body=body),
    ]
    generator = np.random.default_rng(0)
    numbers = {
        "w": generator.standard_normal((5, 6)).astype(np.float32),
        "u": generator.standard_normal((6, 6)).astype(np.float32),
        "step": np.array(1 if counts else 2, np.int64),
    }
    inputs = [("t0", [], INT64), ("n", [], INT64), ("h0", [2, 6]), ("x", ["s", 2, 5] if axis == 0 else [2, "s", 5])]
    return model_of(nodes, inputs, [("t_last", [], INT64), ("h_last", [2, 6])], numbers)


def products_of(model: helper.ModelProto) -> tuple[int, int]:
    """How many linear layers stand in front of the loop, and in its body."""
    graph = read_onnx(model)
    (loop,) = (op for op in graph.operators if op.type == "Loop")
    inside = loop.graphs["body"].operators
    outside, within = (sum(op.type == "nn.Linear" for op in operators) for operators in (graph.operators, inside))
    return outside, within


@pytest.mark.parametrize(
    ("counts", "axis", "expected"), [(True, 0, (1, 1)), (False, 0, (0, 2)), (True, 1, (0, 2))]
)  # fmt: skip
def test_loop_has_products_of_rows_that_it_counts_through_in_front_of_it(
    counts: bool, axis: int, expected: tuple[int, int]
) -> None:
    model = recurrent_model(counts, axis)
    assert products_of(model) == expected
    x = np.random.default_rng(1).standard_normal((7, 2, 5) if axis == 0 else (2, 7, 5)).astype(np.float32)
    h = np.zeros((2, 6), np.float32)
    cases = [(np.array(0), np.array(7), h, x), (np.array(3), np.array(5), h, x), (np.array(7), np.array(7), h, x)]
    assert_agrees(model, *cases)


def test_loop_that_counts_beyond_its_rows_says_so() -> None:
    inputs = (np.array(0), np.array(9), np.zeros((2, 6), np.float32), np.ones((7, 2, 5), np.float32))
    for optimize in (True, False):
        with pytest.raises(KuiperError, match=r"indices within -7\.\.6, got 7"):
            loaded(recurrent_model(), optimize).forward(*inputs)
