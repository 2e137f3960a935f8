from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kuiper.graph.passes import fold_batch_norm_into_conv
from kuiper.layers import Layer, override
from kuiper.layers.operators.batch_norm import batch_norm
from tests.graph.pass_graphs import INPUT, OUTPUT, build, conv, file_graph, norm, relu, rewritten, types


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_fold_batch_norm_into_conv(bias: bool, affine: bool, groups: int) -> None:
    lines = (INPUT, conv("x 1", bias=bias, groups=groups), norm("1 y", affine=affine), OUTPUT)
    model = rewritten(fold_batch_norm_into_conv, *lines)
    assert types(model) == ["nn.Conv2d"]
    assert model.order[1].name == "conv+bn"
    assert model.order[1].params["bias"].value is True


def test_fold_batch_norm_into_conv_by_hand() -> None:
    one = "in_channels=1 out_channels=1 kernel_size=1 bias=True @weight=(1,1,1,1)f32 @bias=(1)f32"
    conv_line = f"nn.Conv2d conv 1 1 x 1 {one}"
    graph = file_graph("pnnx.Input in 0 1 x", conv_line, norm("1 y", channels=1), OUTPUT)
    values = {"weight": 10, "bias": 7, "running_mean": 1, "running_var": 4 - 1e-3}
    for key, value in values.items():
        graph.operator("bn").attrs[key].data = np.float32([value])
    graph.operator("conv").attrs["weight"].data = np.float32([[[[3]]]])
    graph.operator("conv").attrs["bias"].data = np.float32([5])
    folded = build(graph, fold_batch_norm_into_conv).order[1]
    np.testing.assert_allclose(folded.attr("weight").ravel(), [15])
    np.testing.assert_allclose(folded.attr("bias"), [27])


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("kind", ["1d", "2d"])
def test_fold_batch_norm_into_conv_transposed(groups: int, kind: str) -> None:
    kernel, x_shape, shape = ("2,3", (2, 4, 3, 5), "(2,8,4,7)f32") if kind == "2d" else ("3", (2, 4, 5), "(2,8,7)f32")
    weight = f"@weight=(4,{8 // groups},{kernel})f32"
    params = f"in_channels=4 out_channels=8 kernel_size=({kernel}) groups={groups}"
    line = f"nn.ConvTranspose{kind} up 1 1 x 1 {params} {weight}"
    x = np.random.default_rng(0).standard_normal(x_shape).astype(np.float32)
    lines = ("pnnx.Input in 0 1 x", f"{line} #1={shape}", norm("1 y", "bn", f"nn.BatchNorm{kind}", 8), OUTPUT)
    assert types(rewritten(fold_batch_norm_into_conv, *lines, inputs=(x,))) == [f"nn.ConvTranspose{kind}"]


@pytest.mark.parametrize(("shape", "folds"), [("#1=(2,6,5)f32", True), ("", False), ("#1=(6,5)f32", False)])
def test_fold_batch_norm_into_conv1d_needs_a_batch(shape: str, folds: bool) -> None:
    line = f"nn.Conv1d c 1 1 x 1 in_channels=4 out_channels=6 kernel_size=3 @weight=(6,4,3)f32 {shape}"
    graph = file_graph("pnnx.Input in 0 1 x", line, norm("1 y", "bn", "nn.BatchNorm1d", 6), OUTPUT)
    assert types(build(graph, fold_batch_norm_into_conv)) == ["nn.Conv1d"] + ["nn.BatchNorm1d"] * (not folds)


def test_fold_batch_norm_into_conv1d_of_one_sequence_keeps_its_meaning() -> None:
    line = "nn.Conv1d c 1 1 x 1 in_channels=4 out_channels=6 kernel_size=3 @weight=(6,4,3)f32"
    lines = ("pnnx.Input in 0 1 x", line, norm("1 y", "bn", "nn.BatchNorm1d", 6), OUTPUT)
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    rewritten(fold_batch_norm_into_conv, *lines, inputs=(x,))  # (6, 6): the norm takes the second axis for channels


@pytest.mark.parametrize("more", ["padding_mode=reflect", "padding_mode=circular"])
def test_fold_batch_norm_into_conv_with_padding_mode(more: str) -> None:
    lines = (INPUT, conv("x 1", more=more), norm("1 y"), OUTPUT)
    assert types(rewritten(fold_batch_norm_into_conv, *lines)) == ["nn.Conv2d"]


def test_fold_batch_norm_into_conv_without_declared_shapes() -> None:
    lines = ("pnnx.Input in 0 1 x", conv("x 1", shape=""), norm("1 y"), OUTPUT)
    assert types(rewritten(fold_batch_norm_into_conv, *lines)) == ["nn.Conv2d"]


def test_fold_batch_norm_into_conv_of_two_batch_norms() -> None:
    lines = (INPUT, conv("x 1"), norm("1 2"), norm("2 y", "bn2"), OUTPUT)
    assert [op.name for op in rewritten(fold_batch_norm_into_conv, *lines).order] == ["in", "conv+bn+bn", "out"]


def test_fold_batch_norm_into_conv_with_weights_in_float64() -> None:
    line = "nn.Conv2d c 1 1 x 1 in_channels=4 out_channels=2 kernel_size=1 @weight=(2,4,1,1)f64"
    lines = (INPUT, line, norm("1 y", channels=2).replace(")f32", ")f64"), OUTPUT)
    model = rewritten(fold_batch_norm_into_conv, *lines)
    assert types(model) == ["nn.Conv2d"]
    assert model.order[1].attrs["weight"].data.dtype == np.float32


def test_fold_batch_norm_into_conv_does_not_change_weights_that_others_use() -> None:
    graph = file_graph(INPUT, conv("x 1"), norm("1 2"), conv("2 y", "second"), OUTPUT)
    shared = graph.operator("conv").attrs["weight"].data
    assert shared is not None
    graph.operator("second").attrs["weight"].data = shared
    before = shared.copy()
    x = np.ones((2, 4, 6, 5), np.float32)
    expected = build(graph).forward(x)
    model = build(graph, fold_batch_norm_into_conv)
    np.testing.assert_allclose(model.forward(x), expected, atol=1e-5)
    np.testing.assert_array_equal(shared, before)
    assert model.order[2].attrs["weight"].data is shared


@pytest.mark.parametrize(
    "lines",
    [
        (norm("1 y"), "pnnx.Output other 1 0 1"),
        (norm("1 2"), "pnnx.Expression e 2 1 1 2 y expr=add(@0,@1)"),
        (relu("1 2"), norm("2 y")),
    ],
    ids=["returned", "read twice", "behind an activation"],
)
def test_fold_batch_norm_into_conv_leaves_alone(lines: tuple[str, ...]) -> None:
    assert "nn.BatchNorm2d" in types(rewritten(fold_batch_norm_into_conv, INPUT, conv("x 1"), *lines, OUTPUT))


def test_fold_batch_norm_into_conv_refuses_infinite_weights() -> None:
    graph = file_graph(INPUT, conv("x 1"), norm("1 y").replace("eps=1e-3", "eps=0"), OUTPUT)
    graph.operator("bn").attrs["running_var"].data = np.float32([1, 0, 1, 1])
    assert types(build(graph, fold_batch_norm_into_conv)) == ["nn.Conv2d", "nn.BatchNorm2d"]


def test_fold_batch_norm_into_conv_transpose_without_groups_is_the_layers_error() -> None:
    line = conv("x 1").replace("nn.Conv2d", "nn.ConvTranspose2d").replace("groups=1", "groups=0")
    with pytest.raises(ValueError, match=r"nn\.ConvTranspose2d 'conv'"):
        build(file_graph(INPUT, line, norm("1 y"), OUTPUT), fold_batch_norm_into_conv)


def test_fold_batch_norm_into_conv_leaves_errors_to_the_layers() -> None:
    wrong = (
        norm("1 y", channels=3),
        norm("1 y").replace("@running_mean=(4)f32", ""),
        norm("1 y").replace("@weight=(4)f32", "@weight=(3)f32"),
    )
    for line in wrong:
        graph = file_graph(INPUT, conv("x 1"), line, OUTPUT)
        with pytest.raises(ValueError, match="BatchNorm2d 'bn'"):
            build(graph, fold_batch_norm_into_conv).forward(np.ones((2, 4, 6, 5), np.float32))
    for weight in ("(3,4,3,3)f32", "(4,4,3)f32"):
        line = conv("x 1").replace("@weight=(4,4,3,3)f32", f"@weight={weight}")
        with pytest.raises(ValueError, match=r"nn\.Conv2d 'conv': expected weight of shape"):
            build(file_graph(INPUT, line, norm("1 y"), OUTPUT), fold_batch_norm_into_conv)


@pytest.mark.parametrize("type_name", ["nn.Conv2d", "nn.BatchNorm2d"])
def test_fold_batch_norm_into_conv_calls_a_students_layer(type_name: str) -> None:
    with override(type_name, Layer):
        model = build(file_graph(INPUT, conv("x 1"), norm("1 y"), OUTPUT), fold_batch_norm_into_conv)
    assert types(model) == ["nn.Conv2d", "nn.BatchNorm2d"]


@given(st.integers(0, 1000), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=30)
def test_fold_batch_norm_into_conv_is_as_exact_as_both_together(seed: int, spread: float, mean: float) -> None:
    graph = file_graph(INPUT, conv("x 1"), norm("1 y"), OUTPUT, seed=seed)
    statistics = graph.operator("bn").attrs
    generator = np.random.default_rng(seed)
    statistics["running_mean"].data = np.float32(mean + generator.standard_normal(4))
    statistics["running_var"].data = np.float32(spread * (generator.random(4) + 0.1))
    x = generator.standard_normal((2, 4, 6, 5)).astype(np.float32)
    weights = {key: np.asarray(attr.data) for key, attr in statistics.items()}
    exact = batch_norm(build(file_graph(INPUT, conv("x y"), OUTPUT, seed=seed)).forward(x), **weights, eps=1e-3)
    got = build(graph, fold_batch_norm_into_conv).forward(x)
    np.testing.assert_allclose(got, exact, rtol=0, atol=1e-5 * np.abs(exact).max())
