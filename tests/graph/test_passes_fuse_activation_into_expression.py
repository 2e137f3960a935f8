from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import fuse_activation_into_expression
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, expression, file_graph, relu, rewritten, types

SUM = expression("add(mul(@0,2),@1)", "x r 1")
RESIDUAL = "pnnx.Input second 0 1 r"


@pytest.mark.parametrize("type_name", ["nn.ReLU", "F.relu6", "nn.SiLU", "F.sigmoid", "nn.GELU"])
def test_fuse_activation_into_expression(type_name: str) -> None:
    model = rewritten(fuse_activation_into_expression, INPUT, RESIDUAL, SUM, relu("1 y", "act", type_name), OUTPUT)
    assert types(model) == ["kuiper.FusedExpression"]
    assert model.order[-2].name == f"expr+{type_name.split('.')[1].lower()}"
    assert model.order[-2].params["expr"].value == "add(mul(@0,2),@1)"


@pytest.mark.parametrize(
    ("line", "more"),
    [
        (expression("add(@0,@1)", "x r 1", shape=""), ()),
        (expression("add(@0,@1)", "x r 1", shape="(2,4,6,5)i64"), ()),
        (SUM, ("pnnx.Output other 1 0 1",)),
    ],
    ids=["unknown type", "integers", "returned"],
)
def test_fuse_activation_into_expression_leaves_alone(line: str, more: tuple[str, ...]) -> None:
    model = rewritten(fuse_activation_into_expression, INPUT, RESIDUAL, line, relu("1 y"), *more, OUTPUT)
    assert types(model) == ["pnnx.Expression", "nn.ReLU"]


def test_fuse_activation_into_expression_counts_both() -> None:
    lines = (INPUT, RESIDUAL, SUM, relu("1 y"), OUTPUT)
    x = np.ones((2, 4, 6, 5), np.float32)
    layer = rewritten(fuse_activation_into_expression, *lines).order[-2].layer
    assert layer is not None
    assert layer.flops([x.shape, x.shape], [x.shape]) == 3 * x.size


@pytest.mark.parametrize("type_name", ["pnnx.Expression", "nn.ReLU"])
def test_fuse_activation_into_expression_calls_a_students_layer(type_name: str) -> None:
    with override(type_name, Layer):
        graph = file_graph(INPUT, RESIDUAL, SUM, relu("1 y"), OUTPUT)
        assert types(build(graph, fuse_activation_into_expression)) == ["pnnx.Expression", "nn.ReLU"]
