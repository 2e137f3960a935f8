"""What PNNX loses of ONNX: Shape, and that integers are divided."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph, pnnx
from kuiper.layers import registry

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def outputs(body: str, *inputs: np.ndarray, optimize: bool = True, name: str = "in0") -> np.ndarray:
    lines = [f"pnnx.Input {name} 0 1 0 #0=(?,?)f32", *body.strip().splitlines()]
    text = f"7767517\n{len(lines)} {len(lines)}\n" + "\n".join(lines) + "\n"
    graph = RuntimeGraph(pnnx.parse_param(text, "onnx.param"))
    graph.build(registry, optimize, engine=Engine if optimize else None)
    return np.asarray(graph.forward(*inputs))


@pytest.mark.parametrize("optimize", [False, True])
def test_whole_numbers_cut_out_of_floats_are_sizes(optimize: bool) -> None:
    body = """
Tensor.slice cut 1 1 0 1 dim=0 start=-1 end=2147483647 step=1 $input=0 #0=(?,?)f32 #1=(1)i64
pnnx.Output out 1 0 1
"""
    assert outputs(body, X, optimize=optimize).tolist() == [4]
    assert outputs(body, X.T, optimize=optimize).tolist() == [3]
    assert outputs(body.replace("(1)i64", "(1,?)f32"), X, optimize=optimize).tolist() == X[-1:].tolist()


@pytest.mark.parametrize("optimize", [False, True])
def test_whole_numbers_gathered_from_floats_are_sizes(optimize: bool) -> None:
    body = """
Gather size 1 1 0 1 axis=0 indices=1 #0=(?,?)f32 #1=(1)i64
TopK sorted 2 2 0 1 2 3 axis=1 largest=0 #0=(?,?)f32 #1=(1)i64 #2=(?,?)f32 #3=(?,?)i64
pnnx.Output out 1 0 2
"""
    assert outputs(body, X[:, ::-1], optimize=optimize).tolist() == X.tolist()
    assert outputs(body, X.T, optimize=optimize).tolist() == X.T.tolist()


@pytest.mark.parametrize("optimize", [False, True])
def test_whole_numbers_joined_of_floats_are_sizes(optimize: bool) -> None:
    body = """
torch.cat join 2 1 0 0 1 dim=0 #0=(?,?)f32 #1=(4)i64
pnnx.Output out 1 0 1
"""
    assert outputs(body, X, optimize=optimize).tolist() == [3, 4, 3, 4]
    some = """
Shape shape 1 1 0 1 #0=(?,?)f32 #1=(2)i64
torch.cat join 2 1 0 1 2 dim=0 #0=(?,?)f32 #1=(2)i64 #2=(3)i64
pnnx.Output out 1 0 2
"""
    assert outputs(some, X, optimize=optimize).tolist() == [3, 3, 4]


@pytest.mark.parametrize("type_name", ["torch.zeros", "torch.ones"])
def test_a_tensor_that_stands_for_a_size_means_its_shape(type_name: str) -> None:
    body = f"""
{type_name} made 1 1 0 1 dtype=None $size=0 #0=(?,?)f32 #1=(?,?)f32
pnnx.Output out 1 0 1
"""
    assert outputs(body, X).shape == (3, 4)
    integers = f"""
Tensor.to whole 1 1 0 1 dtype=torch.long $input=0 #0=(?,?)f32 #1=(?,?)i64
{type_name} made 1 1 1 2 dtype=None $size=1 #1=(?,?)i64 #2=(?,?)f32
pnnx.Output out 1 0 2
"""
    assert outputs(integers, X).shape == (3, 4)


def test_a_size_of_another_length_than_the_output_has_axes_means_its_shape() -> None:
    body = """
Shape shape 1 1 0 1 #0=(?,?)f32 #1=(2)i64
torch.ones made 1 1 1 2 dtype=torch.long $size=1 #1=(2)i64 #2=(2)i64
pnnx.Output out 1 0 2
"""
    assert outputs(body, X).tolist() == [1, 1]
    assert outputs(body.replace("#2=(2)i64", "#2=(?,?)i64"), X).shape == (3, 4)


def test_expand_to_floats_means_their_shape() -> None:
    body = """
Tensor.slice row 1 1 0 1 dim=0 start=0 end=1 step=1 $input=0 #0=(?,?)f32 #1=(1,?)f32
Expand wide 2 1 1 0 2 #1=(1,?)f32 #0=(?,?)f32 #2=(?,?)f32
pnnx.Output out 1 0 2
"""
    assert outputs(body, X).tolist() == np.repeat(X[:1], 3, 0).tolist()


def test_what_is_compared_with_more_axes_than_come_out_means_its_shape() -> None:
    body = """
torch.eq same 2 1 0 1 2 $input=0 $other=1 #0=(?,?)f32 #1=(2)i64 #2=(2)bool
pnnx.Output out 1 0 2
"""
    shape = "Shape shape 1 1 0 1 #0=(?,?)f32 #1=(2)i64" + body
    assert outputs(shape, X).tolist() == [True, True]
    assert outputs(shape.replace("#2=(2)bool", "#2=(?,2)bool").replace("#1=(2)i64 #2", "#2"), X[:, :2]).shape == (3, 2)


def test_an_undeclared_entry_of_several_axes_is_a_size() -> None:
    body = """
Tensor.select rows 1 1 0 1 dim=0 index=1 $input=0 #0=(?,?)f32
torch.arange made 1 1 1 2 dtype=None $end=1 #2=(?)i64
pnnx.Output out 1 0 2
"""
    assert outputs(body, X).tolist() == [0, 1, 2, 3]
    product = """
torch.prod count 1 1 0 1 dim=(0) keepdim=False $input=0 #0=(?,?)f32
pnnx.Output out 1 0 1
"""
    assert outputs(product, X).tolist() == 12


def test_a_tensor_in_a_list_of_sizes_means_its_shape() -> None:
    body = """
pnnx.Expression sizes 1 1 0 1 expr=[1,@0] #0=(?,?)f32
Tensor.reshape reshape 2 1 0 1 2 $input=0 $shape=1 #0=(?,?)f32 #2=(1,?,?)f32
pnnx.Output out 1 0 2
"""
    assert outputs(body, X).shape == (1, 3, 4)
    mixed = body.replace("[1,@0]", "[size(@0,0),-1]")
    assert outputs(mixed, X).shape == (3, 4)


def test_division_that_gives_whole_numbers_cuts_fractions_off() -> None:
    body = """
Tensor.to whole 1 1 0 1 dtype=torch.long $input=0 #0=(?,?)f32 #1=(?,?)i64
pnnx.Expression half 1 1 1 2 expr=div(@0,2) #1=(?,?)i64 #2=(?,?)i64
pnnx.Output out 1 0 2
"""
    halves = outputs(body, X)
    assert halves.dtype == np.int64
    assert halves.tolist() == np.trunc(X / 2).tolist()
    assert outputs(body.replace("#2=(?,?)i64", "#2=(?,?)f32"), X).tolist() == (X / 2).tolist()
    assert outputs(body.replace("div(@0,2)", "add(div(size(@0,1),3),div(size(@0,0),2.0))"), X).tolist() == 2.5
    assert outputs(body.replace("div(@0,2)", "div(div(torch.float(@0),2),1)"), X).tolist() == (X / 2).tolist()


def test_graphs_from_torchscript_are_left_alone() -> None:
    body = """
Tensor.to whole 1 1 0 1 dtype=torch.long $input=0 #0=(?,?)f32 #1=(?,?)i64
pnnx.Expression half 1 1 1 2 expr=div(@0,2) #1=(?,?)i64 #2=(?,?)i64
pnnx.Output out 1 0 2
"""
    assert outputs(body, X, name="pnnx_input_0").tolist() == (X / 2).tolist()
