from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kuiper.errors import UnsupportedOperatorError
from kuiper.graph.passes import remove_no_ops
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, conv, expression, file_graph, relu, rewritten, types

if TYPE_CHECKING:
    import numpy as np


def test_remove_no_ops_takes_out_chains_of_them() -> None:
    lines = (
        INPUT,
        conv("x 1"),
        relu("1 2", "drop", "nn.Dropout"),
        relu("2 3", "same", "nn.Identity"),
        relu("3 y"),
        OUTPUT,
    )
    model = rewritten(remove_no_ops, *lines)
    assert types(model) == ["nn.Conv2d", "nn.ReLU"]
    assert model.order[2].inputs[0] is model.order[1].outputs[0]


def test_remove_no_ops_with_several_readers() -> None:
    lines = (INPUT, relu("x 1", "drop", "F.dropout"), relu("1 2"), expression("add(add(@0,@1),@2)", "1 2 1 y"), OUTPUT)
    model = rewritten(remove_no_ops, *lines)
    assert [operand.name for operand in model.order[2].inputs] == ["x", "2", "x"]


def test_remove_no_ops_between_input_and_output() -> None:
    model = rewritten(remove_no_ops, INPUT, relu("x y", "same", "nn.Identity"), OUTPUT)
    assert types(model) == []


def test_remove_no_ops_keeps_what_does_something() -> None:
    lines = (INPUT, relu("x 1"), relu("1 y", "soft", "nn.Softplus"), OUTPUT)
    assert types(rewritten(remove_no_ops, *lines)) == ["nn.ReLU", "nn.Softplus"]


def test_remove_no_ops_still_refuses_dropout_in_training() -> None:
    with pytest.raises(UnsupportedOperatorError, match=r"F\.dropout 'drop': expected training=False"):
        build(file_graph(INPUT, relu("x y", "drop", "F.dropout", "training=True"), OUTPUT), remove_no_ops)


def test_remove_no_ops_asks_a_students_layer() -> None:
    class Nothing(Layer):
        is_no_op = True

    with override("nn.ReLU", Nothing), override("nn.Dropout", Layer):
        model = build(file_graph(INPUT, relu("x 1"), relu("1 y", "drop", "nn.Dropout"), OUTPUT), remove_no_ops)
    assert types(model) == ["nn.Dropout"]


def test_remove_no_ops_makes_no_layer_with_weights_and_each_layer_once() -> None:
    made = []

    class Counted(Layer):
        def __init__(self, op: object) -> None:
            made.append(op)

        def forward(self, x: np.ndarray) -> np.ndarray:
            return x

    with override("nn.ReLU", Counted), override("nn.Conv2d", Counted):
        graph = file_graph(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
        model = build(graph, remove_no_ops)
    assert [op.name for op in made] == ["relu", "conv"]
    assert len(types(model)) == 2
