from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kuiper.graph.passes import DEFAULT_PASSES, eliminate_common_subexpressions
from kuiper.layers import Layer, override
from kuiper.models.quantization import quantize_graph
from tests.graph.pass_graphs import (
    INPUT,
    OUTPUT,
    assert_wired,
    build,
    conv,
    expression,
    file_graph,
    relu,
    rewritten,
    types,
)

ADD = expression("add(@0,@1)", "1 2 y")
TWICE = (INPUT, conv("x 1", "A"), conv("x 2", "B"))


def test_eliminate_common_subexpressions_computes_one_convolution_for_two() -> None:
    # A = Conv(X); B = Conv(X): the textbook's example
    graph = file_graph(*TWICE, ADD, OUTPUT)
    for key, attr in graph.operator("B").attrs.items():
        attr.data = np.array(graph.operator("A").attrs[key].data)
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 5)).astype(np.float32)
    expected = build(graph).forward(x)
    model = build(graph, eliminate_common_subexpressions)
    assert_wired(model)
    assert types(model) == ["nn.Conv2d", "pnnx.Expression"]
    assert [operand.name for operand in model.order[2].inputs] == ["1", "1"]
    np.testing.assert_array_equal(model.forward(x), expected)


@pytest.mark.parametrize("last", [False, True])
def test_eliminate_common_subexpressions_tells_weights_apart(last: bool) -> None:
    graph = file_graph(*TWICE, ADD, OUTPUT)
    if last:  # alike but for the last number
        for key, attr in graph.operator("B").attrs.items():
            attr.data = np.array(graph.operator("A").attrs[key].data)
            attr.data.flat[-1] += 1
    assert types(build(graph, eliminate_common_subexpressions)).count("nn.Conv2d") == 2


@pytest.mark.parametrize("changed", ["", "weight", "weight_scales"])
def test_eliminate_common_subexpressions_compares_quantised_weights_as_they_are_stored(changed: str) -> None:
    graph = file_graph(*TWICE, ADD, OUTPUT)
    graph.operator("B").attrs = {
        key: replace(attr, data=np.array(attr.data)) for key, attr in graph.operator("A").attrs.items()
    }
    quantize_graph(graph, bits=8)
    if changed:
        data = graph.operator("B").attrs[changed].data
        assert data is not None
        data.flat[-1] += 1
    expected = 2 if changed else 1
    assert types(build(graph, eliminate_common_subexpressions)).count("nn.Conv2d") == expected


def test_eliminate_common_subexpressions_of_equal_branches() -> None:
    lines = (INPUT, relu("x 1", "a"), relu("x 2", "b"), relu("1 3", "c", "F.silu"), relu("2 4", "d", "F.silu"))
    model = rewritten(eliminate_common_subexpressions, *lines, expression("mul(@0,@1)", "3 4 y"), OUTPUT)
    assert [op.name for op in model.order] == ["in", "a", "c", "expr", "out"]


def test_eliminate_common_subexpressions_follows_execution_not_the_file() -> None:
    lines = (INPUT, relu("x 1", "a"), relu("x 2", "b"), relu("1 3", "c", "F.silu"), relu("2 4", "d", "F.silu"))
    graph = file_graph(*lines, expression("mul(@0,@1)", "3 4 y"), OUTPUT)
    graph.operators = [graph.operators[i] for i in (0, 4, 3, 2, 1, 5, 6)]
    assert len(types(build(graph, eliminate_common_subexpressions))) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (relu("x 1", "a"), relu("x 2", "b", "F.relu6")),
        (relu("x 1", "a", "nn.ELU", "alpha=1.0"), relu("x 2", "b", "nn.ELU", "alpha=0.5")),
        (relu("x 1", "a", "nn.ELU", "alpha=1"), relu("x 2", "b", "nn.ELU")),
        (relu("x 1", "a"), relu("z 2", "b")),
        ("F.relu a 1 1 x 1 $input=x", "F.relu b 1 1 x 2 $self=x"),
    ],
    ids=["types", "parameters", "spelling", "operands", "names of operands"],
)
def test_eliminate_common_subexpressions_tells_apart(one: str, other: str) -> None:
    graph = file_graph(INPUT, "pnnx.Input second 0 1 z", one, other, ADD, OUTPUT)
    model = build(graph, eliminate_common_subexpressions)
    assert len(types(model)) == 3


def test_eliminate_common_subexpressions_of_constants() -> None:
    graph = file_graph(
        INPUT,
        *(f"pnnx.Attribute c{i} 0 1 c{i} @data=(5)f32" for i in "ab"),
        expression("add(add(@0,@1),@2)", "x ca cb y"),
        OUTPUT,
    )
    graph.operator("cb").attrs["data"].data = graph.operator("ca").attrs["data"].data
    assert types(build(graph, eliminate_common_subexpressions)) == ["pnnx.Attribute", "pnnx.Expression"]


def test_eliminate_common_subexpressions_of_a_split_that_is_unpacked() -> None:
    whole, apart = "torch.chunk a 1 1 x 1 chunks=1 dim=0", "torch.chunk b 1 1 x 2 chunks=1 dim=0"
    lines = (INPUT, whole, apart, "prim::ListUnpack unpack 1 1 2 3", expression("add(@0,@1)", "1 3 y"), OUTPUT)
    assert types(rewritten(eliminate_common_subexpressions, *lines)).count("torch.chunk") == 2


@pytest.mark.parametrize(
    "end", [("pnnx.Output p 1 0 1", "pnnx.Output q 1 0 2"), ("prim::TupleConstruct t 2 1 1 2 y", OUTPUT)]
)
def test_eliminate_common_subexpressions_keeps_outputs_apart(end: tuple[str, ...]) -> None:
    model = build(file_graph(INPUT, relu("x 1", "a"), relu("x 2", "b"), *end), *DEFAULT_PASSES)
    first, second = model(np.ones((2, 4, 6, 5)))
    assert not np.shares_memory(np.asarray(first), np.asarray(second))


@pytest.mark.parametrize("returned", ["1", "2"])
def test_eliminate_common_subexpressions_shares_what_is_returned_once(returned: str) -> None:
    other = {"1": "2", "2": "1"}[returned]
    lines = (INPUT, relu("x 1", "a"), relu("x 2", "b"), expression("neg(@0)", f"{other} y"), OUTPUT)
    model = rewritten(eliminate_common_subexpressions, *lines, f"pnnx.Output p 1 0 {returned}")
    assert types(model).count("nn.ReLU") == 1


def test_eliminate_common_subexpressions_calls_a_students_layer() -> None:
    with override("nn.ReLU", Layer):
        graph = file_graph(INPUT, relu("x 1", "a"), relu("x 2", "b"), ADD, OUTPUT)
        assert types(build(graph, eliminate_common_subexpressions)).count("nn.ReLU") == 2
