"""Assignment in place: what the operators that put a part back compute, and that nobody writes where others read."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry

X = np.arange(12, dtype=np.float32).reshape(2, 6)


def built(*lines: str, passes: tuple[str, ...] = ()) -> RuntimeGraph:
    """The graph of these lines behind the inputs x (2, 6) and y (2, 2), built."""
    inputs = ("pnnx.Input in0 0 1 x #x=(2,6)f32", "pnnx.Input in1 0 1 y #y=(2,2)f32")
    text = "\n".join([*inputs, *lines])
    operands = {line.split()[4 + int(line.split()[2])] for line in (*inputs, *lines) if line.split()[3] != "0"}
    graph = RuntimeGraph(pnnx.parse_param(f"7767517\n{len(lines) + 2} {len(operands)}\n{text}\n", "test.param"))
    graph.build(registry, passes=passes)
    return graph


def types(graph: RuntimeGraph) -> list[str]:
    return [op.type for op in graph.operators if not op.type.startswith("pnnx.")]


def test_copy_of_a_slice_gives_the_whole() -> None:
    graph = built(
        "Tensor.slice s 1 1 x part dim=1 start=1 end=3 step=1 #x=(2,6)f32 #part=(2,2)f32",
        "Tensor.copy c 2 1 part y whole $self=part $src=y #part=(2,2)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
    )
    assert types(graph) == ["Tensor.slice", "Tensor.copy", "Tensor.slice_copy"]
    x = X.copy()
    out = graph.forward(x, -np.ones((2, 2), np.float32))
    assert out.tolist() == [[0, -1, -1, 3, 4, 5], [6, -1, -1, 9, 10, 11]]
    np.testing.assert_array_equal(x, X)


def test_several_cuts_and_views_are_undone_from_the_last_to_the_first() -> None:
    graph = built(
        "Tensor.reshape r 1 1 x long shape=(3,4) #x=(2,6)f32 #long=(3,4)f32",
        "Tensor.select t 1 1 long row dim=0 index=2 #long=(3,4)f32 #row=(4)f32",
        "Tensor.slice s 1 1 row part dim=0 start=0 end=4 step=2 #row=(4)f32 #part=(2)f32",
        "torch.sum n 1 1 y sum dim=(0) #y=(2,2)f32 #sum=(2)f32",
        "Tensor.copy c 2 1 part sum whole $self=part $src=sum #part=(2)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
    )
    assert types(graph)[-4:] == ["Tensor.copy", "Tensor.slice_copy", "Tensor.slice_copy", "Tensor.view_as"]
    out = graph.forward(X, np.float32([[100, 200], [0, 0]]))
    assert out.tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 100, 9, 200, 11]]


def test_bounds_that_the_graph_computes_go_along() -> None:
    graph = built(
        "pnnx.Expression e 1 1 y end expr=size(@0,1) #y=(2,2)f32",
        "Tensor.slice s 2 1 x end part dim=1 start=0 step=1 $input=x $end=end #x=(2,6)f32 #part=(2,2)f32",
        "Tensor.copy c 2 1 part y whole $self=part $src=y #part=(2,2)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
    )
    assert graph.forward(X, np.zeros((2, 2), np.float32))[:, :3].tolist() == [[0, 0, 2], [0, 0, 8]]
    assert graph.forward(X, np.zeros((2, 4), np.float32))[:, :5].tolist() == [[0, 0, 0, 0, 4], [0, 0, 0, 0, 10]]


def test_two_readers_see_the_values_before_and_after() -> None:
    graph = built(
        "Tensor.slice s 1 1 x part dim=1 start=0 end=2 step=1 #x=(2,6)f32 #part=(2,2)f32",
        "Tensor.copy c 2 1 part y whole $self=part $src=y #part=(2,2)f32 #whole=(2,6)f32",
        "prim::TupleConstruct t 3 1 x part whole all",
        "pnnx.Output out 1 0 all",
    )
    before, part, after = graph.forward(X, np.zeros((2, 2), np.float32))
    np.testing.assert_array_equal(before, X)
    np.testing.assert_array_equal(part, X[:, :2])
    assert not after[:, :2].any()
    assert not np.shares_memory(before, after)


def test_copy_of_the_whole_needs_nothing_behind_it() -> None:
    graph = built(
        "Tensor.select t 1 1 y row dim=0 index=0 #y=(2,2)f32 #row=(2)f32",
        "torch.clone k 1 1 y z #y=(2,2)f32 #z=(2,2)f32",
        "Tensor.copy c 2 1 z row whole $self=z $src=row #z=(2,2)f32 #whole=(2,2)f32",
        "pnnx.Output out 1 0 whole",
    )
    assert types(graph) == ["Tensor.select", "torch.clone", "Tensor.copy"]
    assert graph.forward(X, np.float32([[1, 2], [3, 4]])).tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("declared", ["", "#whole=(?,?)f32"])
def test_of_an_unknown_shape_the_whole_is_where_the_cuts_begin(declared: str) -> None:
    graph = built(
        "Tensor.reshape r 1 1 x long shape=(3,4)",
        "Tensor.slice s 1 1 long part dim=1 start=0 end=2 step=1",
        "Tensor.slice u 1 1 part less dim=0 start=0 end=2 step=1",
        f"Tensor.copy c 2 1 less y whole $self=less $src=y {declared}",
        "pnnx.Output out 1 0 whole",
    )
    assert graph.forward(X, -np.ones((2, 2), np.float32)).tolist() == [[-1, -1, 2, 3], [-1, -1, 6, 7], [8, 9, 10, 11]]


def test_view_in_front_of_pnnxs_own_slice_copy_is_undone() -> None:
    graph = built(
        "Tensor.reshape r 1 1 x long shape=(3,4) #x=(2,6)f32 #long=(3,4)f32",
        "Tensor.clone k 1 1 long copy #long=(3,4)f32 #copy=(3,4)f32",
        "Tensor.slice_copy c 2 1 copy y whole dim=0 start=0 end=2 step=1 dims=(0,1) starts=(0,0) ends=(2,2) steps=(1,1)"
        " $self=copy $src=y #copy=(3,4)f32 #y=(2,2)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
    )
    assert types(graph) == ["Tensor.reshape", "Tensor.clone", "Tensor.slice_copy", "Tensor.view_as"]
    out = graph.forward(X, -np.ones((2, 2), np.float32))
    assert out.tolist() == [[-1, -1, 2, 3, -1, -1], [6, 7, 8, 9, 10, 11]]


def test_slice_copy_of_the_declared_shape_stays_as_it_is() -> None:
    graph = built(
        "Tensor.slice_copy c 2 1 x y whole dim=1 start=0 end=2 step=1 $self=x $src=y #x=(2,6)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
    )
    assert types(graph) == ["Tensor.slice_copy"]


def test_passes_find_a_graph_that_is_wired() -> None:
    graph = built(
        "Tensor.slice s 1 1 x part dim=1 start=1 end=3 step=1 #x=(2,6)f32 #part=(2,2)f32",
        "Tensor.copy c 2 1 part y whole $self=part $src=y #part=(2,2)f32 #whole=(2,6)f32",
        "pnnx.Output out 1 0 whole",
        passes=("remove_no_ops", "eliminate_common_subexpressions", "eliminate_dead_code"),
    )
    operands = {operand for op in graph.operators for operand in (*op.inputs, *op.outputs)}
    for op in graph.operators:
        assert all(op in operand.consumers for operand in op.inputs)
        assert all(operand.producer is op for operand in op.outputs)
    assert len({operand.index for operand in operands}) == len(operands)
    assert graph.forward(X, np.zeros((2, 2), np.float32))[0].tolist() == [0, 0, 0, 3, 4, 5]
