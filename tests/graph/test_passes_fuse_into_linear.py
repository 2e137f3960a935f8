from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import fuse_activation_into_linear, fuse_add_into_linear
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import OUTPUT, build, file_graph, rewritten, types

INPUT = "pnnx.Input in 0 1 x"
LINEAR = "nn.Linear fc 1 1 x 1 in_features=5 out_features=5 bias=False @weight=(5,5)f32"
ADD, GELU = "pnnx.Expression e 2 1 1 x 2 expr=add(@0,@1)", "nn.GELU act 1 1 2 y"
SHAPES = [(3, 5), (2, 3, 5), (5,)]


@pytest.mark.parametrize("shape", SHAPES)
def test_fuse_into_linear_addition_and_activation(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    passes = [fuse_add_into_linear, fuse_activation_into_linear]
    model = rewritten(passes, INPUT, LINEAR, ADD, GELU, OUTPUT, inputs=(x,))
    assert [(op.type, op.name) for op in model.order[1:-1]] == [("kuiper.FusedLinear", "fc+add+gelu")]


@pytest.mark.parametrize("shape", SHAPES)
def test_fuse_activation_into_linear(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    lines = (INPUT, LINEAR, "F.leaky_relu act 1 1 1 y negative_slope=0.3", OUTPUT)
    assert types(rewritten(fuse_activation_into_linear, *lines, inputs=(x,))) == ["kuiper.FusedLinear"]


def test_fuse_add_into_linear_of_an_output_that_is_returned_is_left_alone() -> None:
    lines = (INPUT, LINEAR, ADD, "pnnx.Output out 1 0 2", "pnnx.Output other 1 0 1")
    x = np.ones((3, 5), np.float32)
    assert types(rewritten(fuse_add_into_linear, *lines, inputs=(x,))) == ["nn.Linear", "pnnx.Expression"]


def test_fuse_into_linear_leaves_convolutions_alone() -> None:
    line = "nn.Conv1d c 1 1 x 1 in_channels=5 out_channels=5 kernel_size=1 @weight=(5,5,1)f32"
    graph = file_graph(INPUT, line, ADD, GELU, OUTPUT)
    passes = (fuse_add_into_linear, fuse_activation_into_linear)
    assert types(build(graph, *passes)) == ["nn.Conv1d", "pnnx.Expression", "nn.GELU"]


@pytest.mark.parametrize("type_name", ["nn.Linear", "pnnx.Expression", "nn.GELU"])
def test_fuse_into_linear_calls_a_students_layer(type_name: str) -> None:
    with override(type_name, Layer):
        graph = file_graph(INPUT, LINEAR, ADD, GELU, OUTPUT)
        assert type_name in types(build(graph, fuse_add_into_linear, fuse_activation_into_linear))
