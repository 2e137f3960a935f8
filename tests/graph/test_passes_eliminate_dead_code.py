from __future__ import annotations

import numpy as np

from kuiper.graph.passes import eliminate_dead_code
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, conv, expression, file_graph, relu, rewritten, types


def test_eliminate_dead_code_takes_out_whole_branches_and_constants() -> None:
    lines = (
        INPUT,
        "pnnx.Attribute c 0 1 c @data=(4,6,5)f32",
        conv("x y"),
        relu("x 2"),
        expression("add(@0,@1)", "2 c 3"),
    )
    model = rewritten(eliminate_dead_code, *lines, OUTPUT)
    assert types(model) == ["nn.Conv2d"]
    assert [op.name for op in model.order[0].outputs[0].consumers] == ["conv"]


def test_eliminate_dead_code_keeps_what_someone_needs() -> None:
    lines = (INPUT, conv("x 1"), relu("1 2"), relu("1 3", "dead"), expression("add(@0,@1)", "1 2 y"), OUTPUT)
    assert types(rewritten(eliminate_dead_code, *lines)) == ["nn.Conv2d", "nn.ReLU", "pnnx.Expression"]


def test_eliminate_dead_code_keeps_inputs_that_nobody_reads() -> None:
    model = rewritten(eliminate_dead_code, INPUT, "pnnx.Input unread 0 1 z", relu("x y"), OUTPUT)
    assert len(model.input_operators) == 2


def test_eliminate_dead_code_keeps_an_operator_with_one_output_in_use() -> None:
    lines = (INPUT, "torch.chunk cut 1 2 x 1 2 chunks=2 dim=1", relu("1 3", "dead"), "nn.ReLU relu 1 1 2 y", OUTPUT)
    assert types(rewritten(eliminate_dead_code, *lines)) == ["torch.chunk", "nn.ReLU"]


def test_eliminate_dead_code_keeps_the_order_of_several_outputs() -> None:
    lines = (INPUT, relu("x 1", "a"), relu("x y", "b"), relu("y 3", "dead"), OUTPUT, "pnnx.Output second 1 0 1")
    model = rewritten(eliminate_dead_code, *lines)
    assert [op.name for op in model.operators] == ["in", "a", "b", "out", "second"]


def test_eliminate_dead_code_calls_a_students_layer() -> None:
    seen = []

    class Watch(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            seen.append(x.shape)
            return x

    graph = file_graph(INPUT, conv("x y"), relu("x 1"), "nn.Sigmoid watch 1 1 1 2", OUTPUT)
    with override("nn.Sigmoid", Watch):
        model = build(graph, eliminate_dead_code)
    model.forward(np.ones((1, 4, 2, 3)))
    assert seen == [(1, 4, 2, 3)]
    assert types(model) == ["nn.Conv2d", "nn.ReLU", "nn.Sigmoid"]
