from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kuiper import ExpressionError, ParameterError
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry


def graph(expr: str, inputs: int = 2, inputs_of_expression: str = "") -> RuntimeGraph:
    """A graph of one Expression whose inputs are the graph's."""
    names = " ".join(str(i) for i in range(inputs))
    lines = [
        "7767517",
        f"{inputs + 2} {inputs + 1}",
        *(f"pnnx.Input in{i} 0 1 {i}" for i in range(inputs)),
        f"pnnx.Expression e {inputs} 1 {names} {inputs} expr={expr} {inputs_of_expression}",
        f"pnnx.Output out 1 0 {inputs}",
    ]
    made = RuntimeGraph(pnnx.parse_param("\n".join(lines) + "\n", "expression.param"))
    made.build(registry)
    return made


X = np.array([[1, 2], [3, 4]], np.float32)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("add(@0,@1)", [[2, 4], [6, 8]]),
        ("mul(@1,size(@0,1))", [[2, 4], [6, 8]]),
        ("[@0,@1]", [X, X]),
        ("[size(@0,0),-1]", [2, -1]),
        ("size(@1,0)", 2),
        ("2", 2),
        ("1.000000e-05", 1e-5),
        ("None", None),
        ("[2,3]", [2, 3]),
    ],
)
def test_layer_computes_its_expr(expr: str, expected: Any) -> None:
    value = graph(expr).forward(X, X)
    assert isinstance(value, (np.ndarray, list)) or type(value) is type(expected)
    np.testing.assert_array_equal(value, expected)


def test_layer_may_have_no_inputs() -> None:
    assert graph("[1,2]", inputs=0).forward() == [1, 2]


def test_named_inputs_stay_inputs() -> None:
    value = graph("sub(@0,@1)", inputs_of_expression="$input=0 $whatever=1").forward(X, 2 * X)
    np.testing.assert_array_equal(value, -X)


def test_layer_counts_flops() -> None:
    layer = graph("add(mul(@0,2),@1)").order[2].layer
    assert layer is not None
    assert layer.flops([(2, 3), (3,)], [(2, 3)]) == 12


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        ("add(@0,@2)", "pnnx.Expression 'e': expected one of 2 inputs, @0 to @1, got @2"),
        ("add(@0,@1", "pnnx.Expression 'e': expected ',' or ')', got the end"),
        ("mull(@0,@1)", "pnnx.Expression 'e': expected a function, got 'mull'; similar: mul"),
    ],
)
def test_mistakes_are_found_when_the_graph_is_built(expr: str, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        graph(expr)
    assert str(error.value).startswith(message)


def test_expr_is_required() -> None:
    text = "7767517\n2 1\npnnx.Expression e 0 1 0\npnnx.Output out 1 0 0\n"
    with pytest.raises(ParameterError, match="expected a parameter 'expr'"):
        RuntimeGraph(pnnx.parse_param(text, "expression.param")).build(registry)
