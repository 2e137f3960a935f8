from __future__ import annotations

import pytest

from kuiper.graph.passes import recognise_silu
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, expression, file_graph, relu, rewritten, types


@pytest.mark.parametrize("type_name", ["nn.Sigmoid", "F.sigmoid", "torch.sigmoid"])
@pytest.mark.parametrize(("text", "wires"), [("mul(@0,@1)", "x 1 y"), ("mul(@0,@1)", "1 x y"), ("mul(@1,@0)", "x 1 y")])
def test_recognise_silu(type_name: str, text: str, wires: str) -> None:
    model = rewritten(recognise_silu, INPUT, relu("x 1", "gate", type_name), expression(text, wires), OUTPUT)
    assert types(model) == ["F.silu"]
    assert model.order[1].name == "gate+mul"


def test_recognise_silu_where_someone_else_reads_x() -> None:
    lines = (INPUT, relu("x 1", "gate", "F.sigmoid"), expression("mul(@0,@1)", "x 1 2"))
    more = (expression("sub(@0,@1)", "2 x y", "more"), OUTPUT)
    assert types(rewritten(recognise_silu, *lines, *more)) == ["F.silu", "pnnx.Expression"]


@pytest.mark.parametrize(
    "lines",
    [
        (expression("mul(@0,@1)", "x 1 y"), "pnnx.Output other 1 0 1"),
        (expression("mul(@0,@1)", "1 1 y"),),
        (expression("add(@0,@1)", "x 1 y"),),
        (relu("x 2"), expression("mul(@0,@1)", "2 1 y")),
        (expression("mul(@0,@1)", "x 1 2"), expression("add(@0,@1)", "1 2 y", "more")),
    ],
    ids=["returned", "squared", "sum", "another factor", "read twice"],
)
def test_recognise_silu_leaves_alone(lines: tuple[str, ...]) -> None:
    assert "F.silu" not in types(rewritten(recognise_silu, INPUT, relu("x 1", "gate", "F.sigmoid"), *lines, OUTPUT))


def test_recognise_silu_of_unknown_type_is_left_alone() -> None:
    product = expression("mul(@0,@1)", "x 1 y")
    lines = ("pnnx.Input in 0 1 x", "F.sigmoid gate 1 1 x 1", product, OUTPUT)
    assert types(build(file_graph(*lines), recognise_silu)) == ["F.sigmoid", "pnnx.Expression"]


@pytest.mark.parametrize("type_name", ["F.sigmoid", "pnnx.Expression", "F.silu"])
def test_recognise_silu_calls_a_students_layer(type_name: str) -> None:
    lines = (INPUT, relu("x 1", "gate", "F.sigmoid"), expression("mul(@0,@1)", "x 1 y"), OUTPUT)
    with override(type_name, Layer):
        assert types(build(file_graph(*lines), recognise_silu)) == ["F.sigmoid", "pnnx.Expression"]
