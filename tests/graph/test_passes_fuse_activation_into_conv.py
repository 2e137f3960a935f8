from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import (
    fold_batch_norm_into_conv,
    fuse_activation_into_conv,
    fuse_add_into_conv,
    recognise_silu,
    remove_no_ops,
)
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, conv, expression, file_graph, norm, relu, rewritten, types

ACTIVATIONS = [
    ("nn.ReLU", "", ("relu", 0.0, 0.0)),
    ("F.relu", "", ("relu", 0.0, 0.0)),
    ("torch.relu", "", ("relu", 0.0, 0.0)),
    ("nn.ReLU6", "", ("clip", 0.0, 6.0)),
    ("F.relu6", "", ("clip", 0.0, 6.0)),
    ("nn.Hardtanh", "", ("clip", -1.0, 1.0)),
    ("F.hardtanh", "min_val=-0.5 max_val=0.25", ("clip", -0.5, 0.25)),
    ("torch.clamp", "min=-0.5 max=0.5", ("clip", -0.5, 0.5)),
    ("torch.clamp", "min=0 max=None", ("clip", 0.0, np.inf)),
    ("torch.clip", "max=0.5", ("clip", -np.inf, 0.5)),
    ("Tensor.clamp", "min=0.5 max=-0.5", ("clip", 0.5, -0.5)),
    ("nn.LeakyReLU", "", ("leaky_relu", 0.01, 0.0)),
    ("F.leaky_relu", "negative_slope=0.2", ("leaky_relu", 0.2, 0.0)),
    ("nn.PReLU", "num_parameters=1 @weight=(1)f32", None),
    ("nn.ELU", "", ("elu", 1.0, 0.0)),
    ("F.elu", "alpha=0.5", ("elu", 0.5, 0.0)),
    ("nn.SiLU", "", ("silu", 0.0, 0.0)),
    ("F.silu", "", ("silu", 0.0, 0.0)),
    ("nn.Hardswish", "", ("hardswish", 0.0, 0.0)),
    ("F.hardsigmoid", "", ("hardsigmoid", 0.0, 0.0)),
    ("nn.Sigmoid", "", ("sigmoid", 0.0, 0.0)),
    ("torch.tanh", "", ("tanh", 0.0, 0.0)),
    ("nn.GELU", "", ("gelu", 0.0, 0.0)),
    ("F.gelu", "approximate=tanh", ("gelu_tanh", 0.0, 0.0)),
    ("nn.Mish", "", ("mish", 0.0, 0.0)),
]


@pytest.mark.parametrize(("type_name", "params", "expected"), ACTIVATIONS)
def test_fuse_activation_into_conv_takes_it_in(
    type_name: str, params: str, expected: tuple[str, float, float] | None
) -> None:
    lines = (INPUT, conv("x 1"), relu("1 y", "act", type_name, params), OUTPUT)
    model = rewritten(fuse_activation_into_conv, *lines)
    assert types(model) == ["kuiper.FusedConv2d"]
    activation = model.order[1].layer.activation
    if expected is None:
        expected = ("leaky_relu", float(file_graph(*lines).operator("act").attrs["weight"].data.item()), 0.0)
    assert (activation.name, activation.alpha, activation.beta) == pytest.approx(expected)


def test_fuse_activation_into_conv_says_so_in_the_name() -> None:
    model = rewritten(fuse_activation_into_conv, INPUT, conv("x 1"), relu("1 y", "act", "nn.ReLU6"), OUTPUT)
    assert model.order[1].name == "conv+relu6"
    assert model.order[1].params["activation"].value == "clip"
    assert "kuiper.FusedConv2d" in str(model.summary())
    assert "conv+relu6" in str(model.summary())
    assert "activation=clip" in model.draw().svg()


def test_fuse_activation_into_conv_leaves_the_file_as_it_is() -> None:
    graph = file_graph(INPUT, conv("x 1"), relu("1 y"), OUTPUT)
    before = build(graph).forward(np.ones((2, 4, 6, 5), np.float32))
    fused = build(graph, fuse_activation_into_conv)
    assert [op.type for op in graph.operators] == ["pnnx.Input", "nn.Conv2d", "nn.ReLU", "pnnx.Output"]
    assert fused.order[1].attrs["weight"].data is graph.operator("conv").attrs["weight"].data
    np.testing.assert_array_equal(build(graph).forward(np.ones((2, 4, 6, 5), np.float32)), before)


@pytest.mark.parametrize(
    "lines",
    [
        (relu("1 y"), "pnnx.Output other 1 0 1"),
        (relu("1 2"), expression("add(@0,@1)", "1 2 y")),
        (relu("1 2"), relu("1 3", "other"), expression("add(@0,@1)", "2 3 y")),
        (relu("1 y", "act", "nn.PReLU", "num_parameters=4 @weight=(4)f32"),),
        (relu("1 y", "act", "torch.clamp", "min=nan"),),
        (relu("1 y", "act", "nn.Softplus"),),
        ("pnnx.Expression low 0 1 2 expr=0.5", "torch.clamp act 2 1 1 2 y $input=1 $min=2"),
    ],
    ids=["returned", "added to", "read twice", "slope per channel", "nan", "not known", "bound from the graph"],
)
def test_fuse_activation_into_conv_leaves_alone(lines: tuple[str, ...]) -> None:
    model = rewritten(fuse_activation_into_conv, INPUT, conv("x 1"), *lines, OUTPUT)
    assert "nn.Conv2d" in types(model)
    assert "kuiper.FusedConv2d" not in types(model)


def test_fuse_activation_into_conv_takes_one_activation_only() -> None:
    lines = (INPUT, conv("x 1"), relu("1 2"), relu("2 y", "second", "nn.Sigmoid"), OUTPUT)
    assert types(rewritten(fuse_activation_into_conv, *lines)) == ["kuiper.FusedConv2d", "nn.Sigmoid"]


def test_fuse_activation_into_conv_of_chains() -> None:
    lines = (
        INPUT,
        conv("x 1"),
        relu("1 2"),
        conv("2 3", "c2"),
        relu("3 4", "a2", "nn.SiLU"),
        conv("4 y", "c3"),
        OUTPUT,
    )
    model = rewritten(fuse_activation_into_conv, *lines)
    assert types(model) == ["kuiper.FusedConv2d", "kuiper.FusedConv2d", "nn.Conv2d"]
    assert [op.name for op in model.operators] == ["in", "conv+relu", "c2+silu", "c3", "out"]


def test_fuse_activation_into_conv_after_batch_norm_dropout_and_addition() -> None:
    passes = [remove_no_ops, fold_batch_norm_into_conv, fuse_add_into_conv, fuse_activation_into_conv]
    drop = "nn.Dropout drop 1 1 2 3"
    lines = (INPUT, conv("x 1"), norm("1 2"), drop, expression("add(@0,@1)", "3 x 4"), relu("4 y"), OUTPUT)
    model = rewritten(passes, *lines)
    assert [op.name for op in model.order] == ["in", "conv+bn+add+relu", "out"]


def test_fuse_activation_into_conv_of_silu_in_two_operators() -> None:
    sigmoid = relu("1 2", "sigmoid", "F.sigmoid")
    lines = (INPUT, conv("x 1"), sigmoid, expression("mul(@0,@1)", "1 2 y"), OUTPUT)
    assert types(rewritten([recognise_silu, fuse_activation_into_conv], *lines)) == ["kuiper.FusedConv2d"]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_fuse_activation_into_conv_keeps_the_padding_mode(mode: str) -> None:
    line = conv("x 1", more=f"padding_mode={mode}")
    assert types(rewritten(fuse_activation_into_conv, INPUT, line, relu("1 y"), OUTPUT)) == ["kuiper.FusedConv2d"]


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("nn.Conv1d c 1 1 x 1 in_channels=4 out_channels=6 kernel_size=(3) bias=False @weight=(6,4,3)f32", (2, 4, 7)),
        ("nn.ConvTranspose1d c 1 1 x 1 in_channels=4 out_channels=2 kernel_size=(3) @weight=(4,2,3)f32", (2, 4, 7)),
        ("nn.ConvTranspose2d c 1 1 x 1 in_channels=4 out_channels=2 kernel_size=(2,2) @weight=(4,2,2,2)f32", (4, 3, 5)),
        ("nn.Conv2d c 1 1 x 1 in_channels=4 out_channels=2 kernel_size=1 @weight=(2,4,1,1)f64", (4, 3, 5)),
    ],
)
def test_fuse_activation_into_conv_of_other_kinds(line: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    ends = ("pnnx.Input in 0 1 x", line, "nn.Tanh act 1 1 1 y", OUTPUT)
    model = rewritten(fuse_activation_into_conv, *ends, inputs=(x,))
    assert types(model) == [line.split()[0].replace("nn.", "kuiper.Fused")]


@pytest.mark.parametrize("type_name", ["nn.Conv2d", "nn.ReLU", "kuiper.FusedConv2d"])
def test_fuse_activation_into_conv_calls_a_students_layer(type_name: str) -> None:
    class Mine(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            return 7 * np.ones_like(x)

    with override(type_name, Mine):
        model = build(file_graph(INPUT, conv("x 1"), relu("1 y"), OUTPUT), fuse_activation_into_conv)
    assert types(model) == ["nn.Conv2d", "nn.ReLU"]
    if type_name != "kuiper.FusedConv2d":
        np.testing.assert_array_equal(model.forward(np.zeros((2, 4, 6, 5))), np.full((2, 4, 6, 5), 7))


def test_fuse_activation_into_conv_with_stride_as_an_input_is_left_alone() -> None:
    line = "nn.Conv2d c 2 1 x s 1 in_channels=4 out_channels=4 kernel_size=1 @weight=(4,4,1,1)f32 $input=x $stride=s"
    lines = (INPUT, "pnnx.Expression two 0 1 s expr=2", line, "nn.ReLU act 1 1 1 y", OUTPUT)
    assert types(rewritten(fuse_activation_into_conv, *lines)) == ["pnnx.Expression", "nn.Conv2d", "nn.ReLU"]
