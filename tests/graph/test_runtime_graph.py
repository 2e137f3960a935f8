from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import (
    GraphStateError,
)
from kuiper.graph import GraphState, RuntimeGraph, RuntimeOperator, pnnx, print_step
from kuiper.layers import Layer, override, registry
from tests.graph.graphs import DIAMOND, graph_of

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


def built(text: str, optimize: bool = False) -> RuntimeGraph:
    graph = graph_of(text)
    graph.build(registry, optimize)
    return graph


def test_states_run_from_need_init_to_complete() -> None:
    graph = RuntimeGraph(pnnx.parse_param(DIAMOND, "test.param"))
    assert graph.state is GraphState.NEED_INIT
    graph.init()
    assert graph.state is GraphState.NEED_BUILD
    graph.build(registry)
    assert graph.state is GraphState.COMPLETE


def test_build_does_init_and_both_do_nothing_twice() -> None:
    graph = RuntimeGraph(pnnx.parse_param(DIAMOND, "test.param"))
    graph.build(registry)
    layers = [op.layer for op in graph.operators]
    graph.init()
    graph.build(registry)
    assert [op.layer for op in graph.operators] == layers


def test_a_graph_that_a_function_makes_is_not_kept() -> None:
    made: list[weakref.ref[pnnx.Graph]] = []

    def make() -> pnnx.Graph:
        graph = pnnx.parse_param(DIAMOND, "diamond")
        made.append(weakref.ref(graph))
        return graph

    model = kuiper.load(make)
    gc.collect()
    assert [graph() for graph in made] == [None]
    expected = np.asarray(kuiper.load(pnnx.parse_param(DIAMOND, "diamond"))(X))
    np.testing.assert_array_equal(np.asarray(model(X)), expected)
    np.testing.assert_array_equal(np.asarray(model.as_in_file()(X)), expected)
    assert (len(made), model.name) == (2, "graph")


def test_forward_before_build_says_what_is_missing() -> None:
    with pytest.raises(GraphStateError, match=r"graph: expected a built graph, got one that needs build\(\)"):
        graph_of(DIAMOND).forward(X)


def test_init_shares_one_operand_between_producer_and_consumers() -> None:
    graph = graph_of(DIAMOND)
    source, left, right, join, out = graph.operators
    assert left.inputs[0] is source.outputs[0]
    assert right.inputs[0] is source.outputs[0]
    assert join.inputs == [left.outputs[0], right.outputs[0]]
    assert source.outputs[0].consumers == [left, right]
    assert out.inputs[0].producer is join
    assert graph.input_operators == [source]
    assert graph.output_operators == [out]


def test_forward_passes_outputs_on_without_copies() -> None:
    seen: list[Any] = []

    class Remember(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            seen.append(x)
            return x

    with override("nn.ReLU", Remember):
        graph = built(DIAMOND)
    graph.forward(X)
    assert all(x is seen[0] for x in seen)
    assert np.shares_memory(seen[0], X)


def test_forward_computes_the_diamond() -> None:
    expected = [[0, 2, 0, 0, 2, 0], [4, 0, 6, 4, 0, 6]]
    np.testing.assert_array_equal(built(DIAMOND).forward(X), expected)


def test_call_returns_a_tensor_on_the_same_memory() -> None:
    y = built(DIAMOND)(X)
    assert isinstance(y, kuiper.Tensor)
    assert np.shares_memory(np.asarray(y), np.asarray(y))


def test_call_takes_lists_tensors_and_other_float_types() -> None:
    graph = built(DIAMOND)
    expected = np.asarray(graph(X))
    for same in (X.tolist(), X.astype(np.float64), X.astype(np.float16), X.astype(int), kuiper.Tensor.wrap(X)):
        np.testing.assert_array_equal(np.asarray(graph(same)), expected)


def test_call_leaves_batch_and_sizes_free() -> None:
    assert built(DIAMOND)(np.ones((7, 5), np.float32)).shape == (7, 10)


def test_same_operand_may_be_read_twice_by_one_operator() -> None:
    text = """7767517
3 2
pnnx.Input in 0 1 0
torch.cat twice 2 1 0 0 1 dim=0
pnnx.Output out 1 0 1
"""
    graph = built(text)
    assert graph.operators[0].outputs[0].consumers == [graph.operators[1]]
    np.testing.assert_array_equal(graph.forward(X), np.concatenate([X, X]))


def test_several_inputs_and_outputs_keep_the_order_of_the_file() -> None:
    text = """7767517
4 2
pnnx.Input a 0 1 0
pnnx.Input b 0 1 1
pnnx.Output first 1 0 1
pnnx.Output second 1 0 0
"""
    y = built(text)(X, 2 * X)
    assert isinstance(y, tuple)
    np.testing.assert_array_equal(np.asarray(y[0]), 2 * X)
    np.testing.assert_array_equal(np.asarray(y[1]), X)


def test_nested_tuples_come_back_nested() -> None:
    text = """7767517
4 3
pnnx.Input in 0 1 0
prim::TupleConstruct inner 2 1 0 0 1
prim::TupleConstruct outer 2 1 1 0 2
pnnx.Output out 1 0 2
"""
    (a, b), c = built(text)(X)
    for tensor in (a, b, c):
        np.testing.assert_array_equal(np.asarray(tensor), X)


def test_operator_with_several_outputs_feeds_each_to_its_reader() -> None:
    text = """7767517
4 4
pnnx.Input in 0 1 0
torch.chunk cut 1 2 0 1 2 chunks=2 dim=0
torch.cat join 2 1 2 1 3 dim=0
pnnx.Output out 1 0 3
"""
    np.testing.assert_array_equal(built(text).forward(X), X[::-1])


def test_parameter_from_an_operand_follows_the_input() -> None:
    text = """7767517
4 3
pnnx.Input in 0 1 0
pnnx.Expression sizes 1 1 0 1 expr=[size(@0,1),-1]
Tensor.reshape turn 2 1 0 1 2 $input=0 $shape=1
pnnx.Output out 1 0 2
"""
    graph = built(text)
    assert graph(X).shape == (3, 2)
    assert graph(np.ones((4, 6))).shape == (6, 4)


def test_observer_sees_every_operator_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    def observe(op: RuntimeOperator, outputs: tuple[Any, ...], seconds: float) -> None:
        assert seconds >= 0
        seen.append(f"{op.name} {outputs[0].shape}")

    graph = built(DIAMOND)
    graph.forward(X, observer=observe)
    assert seen == ["left (2, 3)", "right (2, 3)", "join (2, 6)"]
    graph.forward(X, observer=print_step)
    assert capsys.readouterr().out.count("(2, 3)") == 2


def test_optimize_takes_operators_out_that_do_nothing() -> None:
    text = """7767517
5 4
pnnx.Input in 0 1 0
nn.Identity same 1 1 0 1
nn.Dropout drop 1 1 1 2 p=0.5
nn.ReLU relu 1 1 2 3
pnnx.Output out 1 0 3
"""
    plain, optimized = built(text), built(text, optimize=True)
    assert [op.name for op in optimized.order] == ["in", "relu", "out"]
    np.testing.assert_array_equal(plain.forward(X), optimized.forward(X))


def test_one_model_serves_two_threads() -> None:
    graph = built(DIAMOND)
    wrong: list[int] = []

    def work(value: int) -> None:
        x = np.full((2, 3), value, np.float32)
        for _ in range(50):
            wrong.extend([value] * int((graph.forward(x) != value).any()))

    threads = [threading.Thread(target=work, args=(value,)) for value in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_division_by_zero_is_silent_as_in_torch() -> None:
    text = """7767517
3 2
pnnx.Input in 0 1 0
pnnx.Expression e 1 1 0 1 expr=div(@0,0)
pnnx.Output out 1 0 1
"""
    np.testing.assert_array_equal(
        built(text).forward(np.array([1.0, 0.0, -1.0], np.float32)), [np.inf, np.nan, -np.inf]
    )


def test_random_weights_run_a_param_file_alone(tmp_path: Path) -> None:
    from kuiper.graph.made_up import fill_random_weights, sample_inputs

    text = """7767517
3 2
pnnx.Input in 0 1 0 #0=(2,8)f32
nn.Linear fc 1 1 0 1 bias=True in_features=8 out_features=4 @bias=(4)f32 @weight=(4,8)f32 #0=(2,8)f32 #1=(2,4)f32
pnnx.Output out 1 0 1
"""
    path = tmp_path / "alone.pnnx.param"
    path.write_text(text)
    file_graph = pnnx.load(path, weights=False)
    fill_random_weights(file_graph)
    graph = RuntimeGraph(file_graph)
    graph.build(registry)
    y = graph.forward(*sample_inputs(graph))
    assert y.shape == (2, 4)
    assert 0.01 < np.abs(y).max() < 100


def test_read_only_output_is_copied_for_the_caller() -> None:
    text = """7767517
3 2
pnnx.Input in 0 1 0
Tensor.expand wide 1 1 0 1 sizes=(4,2,3)
pnnx.Output out 1 0 1
"""
    y = np.asarray(built(text)(X))
    assert y.flags.writeable
    np.testing.assert_array_equal(y[3], X)


def test_a_build_that_runs_out_of_memory_can_be_repeated() -> None:
    graph, tries = graph_of(DIAMOND), []

    def layer(op: RuntimeOperator) -> Layer:
        tries.append(op)
        if len(tries) == 2:
            raise MemoryError
        return registry._factories["nn.ReLU"](op)

    with override("nn.ReLU", layer):
        with pytest.raises(kuiper.OutOfMemoryError, match=r"nn.ReLU '.*': expected enough memory"):
            graph.build(registry)
        graph.build(registry)
    assert graph.forward(X).shape == (2, 6)
