from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import fuse_activation_into_conv, fuse_add_into_conv
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, conv, expression, file_graph, relu, rewritten, types


@pytest.mark.parametrize("text", ["add(@0,@1)", "add(@1,@0)"])
@pytest.mark.parametrize("operands", ["1 x y", "x 1 y"])
def test_fuse_add_into_conv_makes_the_other_operand_the_residual(text: str, operands: str) -> None:
    model = rewritten(fuse_add_into_conv, INPUT, conv("x 1"), expression(text, operands), OUTPUT)
    assert types(model) == ["kuiper.FusedConv2d"]
    fused = model.order[1]
    assert fused.name == "conv+add"
    assert [operand.name for operand in fused.inputs] == ["x", "x"]
    assert fused.input_names == ["input", "residual"]


def test_fuse_add_into_conv_leaves_a_transposed_convolution_alone() -> None:
    up = "nn.ConvTranspose2d up 1 1 x 1 in_channels=4 out_channels=4 kernel_size=(1,1) bias=False @weight=(4,4,1,1)f32"
    lines = (INPUT, up, expression("add(@0,@1)", "1 x y"), OUTPUT)
    assert types(build(file_graph(*lines), fuse_add_into_conv)) == ["nn.ConvTranspose2d", "pnnx.Expression"]


@pytest.mark.parametrize(("before", "after"), [("(?,4,6,5)f32", "(2,4,6,5)f32"), ("(2,4,6,5)f32", "(?,4,6,5)f32")])
def test_fuse_add_into_conv_takes_sizes_that_the_file_leaves_open(before: str, after: str) -> None:
    line = conv("x 1", shape="") + f" #1={before}"
    model = rewritten(fuse_add_into_conv, INPUT, line, expression("add(@0,@1)", "1 x y", shape=after), OUTPUT)
    assert types(model) == ["kuiper.FusedConv2d"]


def test_fuse_add_into_conv_of_two_convolutions_takes_the_first() -> None:
    lines = (INPUT, conv("x 1", "a"), conv("x 2", "b"), expression("add(@0,@1)", "1 2 3"), relu("3 y"), OUTPUT)
    model = rewritten([fuse_add_into_conv, fuse_activation_into_conv], *lines)
    assert [op.name for op in model.order] == ["in", "b", "a+add+relu", "out"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_fuse_add_into_conv_of_two_convolutions_takes_the_larger(order: tuple[int, int]) -> None:
    small = "nn.Conv2d small 1 1 x 1 in_channels=4 out_channels=4 kernel_size=(1,1) bias=False @weight=(4,4,1,1)f32"
    pair = (small, conv("x 2", "large"))
    lines = (INPUT, *(pair[i] for i in order), expression("add(@0,@1)", "1 2 y"), OUTPUT)
    assert [op.name for op in rewritten(fuse_add_into_conv, *lines).order] == ["in", "small", "large+add", "out"]


def test_fuse_add_into_conv_takes_the_smaller_if_the_larger_cannot() -> None:
    small = "nn.Conv2d small 1 1 x 1 in_channels=4 out_channels=4 kernel_size=(1,1) bias=False @weight=(4,4,1,1)f32"
    lines = (INPUT, small, conv("x 2", "large"), expression("add(@0,@1)", "1 2 y"), OUTPUT, "pnnx.Output other 1 0 2")
    assert [op.name for op in rewritten(fuse_add_into_conv, *lines).order][1:3] == ["large", "small+add"]


def test_fuse_add_into_conv_in_the_block_of_a_residual_network() -> None:
    lines = (
        INPUT,
        conv("x 1", "first"),
        relu("1 2", "relu1"),
        conv("2 3", "second"),
        expression("add(@0,@1)", "3 x 4"),
        relu("4 5", "relu2"),
        conv("5 6", "third"),
        expression("add(@0,@1)", "6 5 y", "expr2"),
        OUTPUT,
    )
    model = rewritten([fuse_add_into_conv, fuse_activation_into_conv], *lines)
    assert [op.name for op in model.order] == ["in", "first+relu", "second+add+relu", "third+add", "out"]


def test_fuse_add_into_conv_adds_before_the_activation_only() -> None:
    lines = (INPUT, conv("x 1"), relu("1 2"), expression("add(@0,@1)", "2 x y"), OUTPUT)
    for passes in ([fuse_add_into_conv, fuse_activation_into_conv], [fuse_activation_into_conv, fuse_add_into_conv]):
        assert types(rewritten(passes, *lines)) == ["kuiper.FusedConv2d", "pnnx.Expression"]


@pytest.mark.parametrize("shape", [(1, 4, 1, 1), (4, 1, 1), (5,), (2, 4, 6, 5), (2, 1, 6, 1)])
def test_fuse_add_into_conv_broadcasts_the_residual(shape: tuple[int, ...]) -> None:
    lines = (INPUT, "pnnx.Input r 0 1 r", conv("x 1"), expression("add(@0,@1)", "1 r y"), OUTPUT)
    generator = np.random.default_rng(0)
    inputs = tuple(generator.standard_normal(size).astype(np.float32) for size in ((2, 4, 6, 5), shape))
    assert types(rewritten(fuse_add_into_conv, *lines, inputs=inputs)) == ["kuiper.FusedConv2d"]


def test_fuse_add_into_conv_of_a_residual_that_turns_out_larger() -> None:
    inputs_of_graph = ("pnnx.Input in 0 1 x", "pnnx.Input r 0 1 r")
    lines = (*inputs_of_graph, conv("x 1", shape=""), expression("add(@0,@1)", "1 r y", shape=""))
    generator = np.random.default_rng(0)
    inputs = tuple(generator.standard_normal(size).astype(np.float32) for size in ((1, 4, 6, 5), (3, 1, 6, 5)))
    assert types(rewritten(fuse_add_into_conv, *lines, OUTPUT, inputs=inputs)) == ["kuiper.FusedConv2d"]


def test_fuse_add_into_conv_takes_one_residual_only() -> None:
    lines = (INPUT, conv("x 1"), expression("add(@0,@1)", "1 x 2"), expression("add(@0,@1)", "2 x y", "more"), OUTPUT)
    assert types(rewritten(fuse_add_into_conv, *lines)) == ["kuiper.FusedConv2d", "pnnx.Expression"]


@pytest.mark.parametrize(
    "lines",
    [
        (expression("add(@0,@1)", "1 1 y"),),
        (expression("add(@0,@0)", "1 y"),),
        (expression("add(@0,@1)", "1 x y"), "pnnx.Output other 1 0 1"),
        (relu("1 2"), expression("add(@0,@1)", "1 2 y")),
        (expression("add(@0,@0)", "1 x y"),),
        (expression("sub(@0,@1)", "1 x y"),),
        (expression("add(@0,mul(@1,2))", "1 x y"),),
        (expression("add(@0,2)", "1 y"),),
        ("pnnx.Attribute c 0 1 c @data=(2,4,6,5)f64 #c=(2,4,6,5)f64", expression("add(@0,@1)", "1 c y")),
        ("pnnx.Attribute c 0 1 c @data=(3,1,4,6,5)f32", expression("add(@0,@1)", "1 c y", shape="(3,2,4,6,5)f32")),
    ],
    ids=[
        "to itself",
        "to itself by text",
        "returned",
        "read twice",
        "one operand used",
        "difference",
        "more than a sum",
        "number",
        "float64",
        "larger",
    ],
)
def test_fuse_add_into_conv_leaves_alone(lines: tuple[str, ...]) -> None:
    model = rewritten(fuse_add_into_conv, INPUT, conv("x 1"), *lines, OUTPUT)
    assert "kuiper.FusedConv2d" not in types(model)


def test_fuse_add_into_conv_of_a_plain_number_from_the_graph() -> None:
    size = "pnnx.Expression size 1 1 x 2 expr=size(@0,3)"
    lines = (INPUT, conv("x 1"), size, "pnnx.Expression e 2 1 1 2 y expr=add(@0,@1)", OUTPUT)
    assert types(rewritten(fuse_add_into_conv, *lines)) == ["pnnx.Expression", "kuiper.FusedConv2d"]


def test_fuse_add_into_conv_of_an_image_without_batch() -> None:
    lines = ("pnnx.Input in 0 1 x", conv("x 1", shape=""), "pnnx.Expression e 2 1 1 x y expr=add(@0,@1)", OUTPUT)
    x = np.random.default_rng(0).standard_normal((4, 6, 5)).astype(np.float32)
    assert types(rewritten(fuse_add_into_conv, *lines, inputs=(x,))) == ["kuiper.FusedConv2d"]


@pytest.mark.parametrize("type_name", ["nn.Conv2d", "pnnx.Expression", "kuiper.FusedConv2d"])
def test_fuse_add_into_conv_calls_a_students_layer(type_name: str) -> None:
    with override(type_name, Layer):
        graph = file_graph(INPUT, conv("x 1"), expression("add(@0,@1)", "1 x y"), OUTPUT)
        assert types(build(graph, fuse_add_into_conv)) == ["nn.Conv2d", "pnnx.Expression"]
