from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import fold_batch_norm_into_linear
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import OUTPUT, build, file_graph, norm, rewritten, types

INPUT = "pnnx.Input in 0 1 x"
NORM = norm("1 y", "bn", "nn.BatchNorm1d", 5)
ROWS = np.random.default_rng(0).standard_normal((3, 6)).astype(np.float32)


def linear(bias: bool = True, shape: str = "#1=(3,5)f32") -> str:
    weights = "@weight=(5,6)f32" + (" @bias=(5)f32" if bias else "")
    return f"nn.Linear fc 1 1 x 1 in_features=6 out_features=5 bias={bias} {weights} {shape}"


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_fold_batch_norm_into_linear(bias: bool, affine: bool) -> None:
    lines = (INPUT, linear(bias), norm("1 y", "bn", "nn.BatchNorm1d", 5, affine), OUTPUT)
    model = rewritten(fold_batch_norm_into_linear, *lines, inputs=(ROWS,))
    assert types(model) == ["nn.Linear"]
    assert model.order[1].name == "fc+bn"


@pytest.mark.parametrize("shape", ["", "#1=(2,5,5)f32", "#1=(5)f32"])
def test_fold_batch_norm_into_linear_needs_two_axes(shape: str) -> None:
    graph = file_graph(INPUT, linear(shape=shape), NORM, OUTPUT)
    assert types(build(graph, fold_batch_norm_into_linear)) == ["nn.Linear", "nn.BatchNorm1d"]


def test_fold_batch_norm_into_linear_keeps_channels_on_the_second_axis() -> None:
    x = np.random.default_rng(0).standard_normal((2, 5, 6)).astype(np.float32)
    rewritten(fold_batch_norm_into_linear, INPUT, linear(shape="#1=(2,5,5)f32"), NORM, OUTPUT, inputs=(x,))


def test_fold_batch_norm_into_linear_whose_output_is_returned_is_left_alone() -> None:
    lines = (INPUT, linear(), NORM, OUTPUT, "pnnx.Output other 1 0 1")
    assert types(rewritten(fold_batch_norm_into_linear, *lines, inputs=(ROWS,))) == ["nn.Linear", "nn.BatchNorm1d"]


def test_fold_batch_norm_into_linear_leaves_errors_to_the_layers() -> None:
    line = linear().replace("@weight=(5,6)f32", "@weight=(4,6)f32")
    with pytest.raises(ValueError, match=r"nn\.Linear 'fc': expected weight of shape"):
        build(file_graph(INPUT, line, NORM, OUTPUT), fold_batch_norm_into_linear)


@pytest.mark.parametrize("type_name", ["nn.Linear", "nn.BatchNorm1d"])
def test_fold_batch_norm_into_linear_calls_a_students_layer(type_name: str) -> None:
    with override(type_name, Layer):
        model = build(file_graph(INPUT, linear(), NORM, OUTPUT), fold_batch_norm_into_linear)
    assert types(model) == ["nn.Linear", "nn.BatchNorm1d"]
