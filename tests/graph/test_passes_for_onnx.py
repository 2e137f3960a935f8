"""Passes for what exporters to ONNX spell out: biases behind products, GELU, layer norm, each function alone."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import (
    fold_affine_into_weights,
    fuse_expressions,
    recognise_gelu,
    recognise_layer_norm,
)
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import IMAGE, INPUT, OUTPUT, build, conv, expression, file_graph, relu, rewritten, types

ROWS = np.random.default_rng(0).standard_normal((3, 6)).astype(np.float32)
FC = "nn.Linear fc 1 1 x 1 in_features=6 out_features=5 bias=False @weight=(5,6)f32 #1=(3,5)f32"
ERF_FORMS = (
    "mul(mul(@0,add(erf(div(@0,1.4142135381698608)),1)),0.5)",
    "mul(mul(@0,0.5),add(1.0,erf(mul(@0,0.7071067690849304))))",
    "mul(@0,mul(0.5,add(erf(onnx_div(@0,1.4142135)),1.0)))",
)


def constant(name: str, shape: str) -> str:
    return f"pnnx.Attribute {name} 0 1 {name} @data={shape}f32 #{name}={shape}f32"


@pytest.mark.parametrize("text", ["add(@0,@1)", "mul(@1,@0)", "sub(@0,@1)", "sub(@1,@0)", "div(@0,@1)"])
@pytest.mark.parametrize("shape", ["(4,1,1)", "(1,4,1,1)", "(1)"])
def test_fold_affine_into_weights_of_a_convolution(text: str, shape: str) -> None:
    wires = "1 c y" if "@0," in text or "(@1,@0)" in text else "c 1 y"
    model = rewritten(
        fold_affine_into_weights, INPUT, constant("c", shape), conv("x 1"), expression(text, wires), OUTPUT
    )
    assert types(model)[-1] == "nn.Conv2d"


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("text", ["add(@0,@1)", "mul(@0,@1)"])
@pytest.mark.parametrize(("kind", "kernel", "rank"), [("1d", "3", 3), ("2d", "2,3", 4)])
def test_fold_affine_into_weights_of_a_transposed_convolution(
    groups: int, text: str, kind: str, kernel: str, rank: int
) -> None:
    sizes = f"in_channels=4 out_channels=8 kernel_size=({kernel}) groups={groups} bias=False"
    up = f"nn.ConvTranspose{kind} up 1 1 x 1 {sizes} @weight=(4,{8 // groups},{kernel})f32"
    x = np.random.default_rng(0).standard_normal((2, 4, 3, 5)[:rank]).astype(np.float32)
    channels, up = f"(1,8{',1' * (rank - 2)})", f"{up} #1=(2,8,{'5' if rank == 3 else '4,7'})f32"
    lines = ("pnnx.Input in 0 1 x", constant("c", channels), up, expression(text, "1 c y", shape=""), OUTPUT)
    model = rewritten(fold_affine_into_weights, *lines, inputs=(x,))
    assert [op.name for op in model.order if op.name.startswith("up")] == ["up+affine"]


@pytest.mark.parametrize("text", ["add(@0,0.5)", "mul(2,@0)", "sub(1.5,@0)", "div(@0,3)"])
def test_fold_affine_into_weights_takes_numbers(text: str) -> None:
    model = rewritten(fold_affine_into_weights, INPUT, conv("x 1", bias=False), expression(text, "1 y"), OUTPUT)
    assert types(model) == ["nn.Conv2d"]
    assert model.order[1].name == "conv+affine"


@pytest.mark.parametrize("shape", ["(5)", "(1,5)", "(1)"])
def test_fold_affine_into_weights_of_a_linear_layer(shape: str) -> None:
    lines = (
        "pnnx.Input in 0 1 x",
        constant("c", shape),
        FC,
        expression("add(@0,@1)", "1 c y", shape="(3,5)f32"),
        OUTPUT,
    )
    assert "pnnx.Expression" not in types(rewritten(fold_affine_into_weights, *lines, inputs=(ROWS,)))


@pytest.mark.parametrize(
    ("text", "shape"),
    [("add(@0,@1)", "(3,5)"), ("add(@0,@1)", "(1,1,5)"), ("div(@1,@0)", "(5)"), ("pow(@0,@1)", "(5)")],
    ids=["of each row", "more axes", "divisor", "another function"],
)
def test_fold_affine_into_weights_leaves_alone(text: str, shape: str) -> None:
    lines = ("pnnx.Input in 0 1 x", constant("c", shape), FC, expression(text, "1 c y", shape=""), OUTPUT)
    assert types(build(file_graph(*lines), fold_affine_into_weights))[-1] == "pnnx.Expression"


def test_fuse_expressions_makes_one_of_a_chain() -> None:
    lines = (
        INPUT,
        "pnnx.Input in2 0 1 r #r=" + IMAGE,
        expression("mul(@0,2)", "x 1", "a"),
        expression("sub(@1,@0)", "r 1 2", "b"),
        expression("mul(@0,@1)", "2 x y", "c"),
        OUTPUT,
    )
    model = rewritten(fuse_expressions, *lines)
    assert [op.params["expr"].value for op in model.order if op.layer is not None] == ["mul(sub(mul(@0,2),@1),@0)"]


@pytest.mark.parametrize(
    "lines",
    [
        (expression("mul(@0,2)", "x 1", "a"), expression("mul(@0,@0)", "1 y", "b")),
        (expression("mul(@0,2)", "x 1", "a"), expression("add(@0,@1)", "1 1 y", "b")),
        (expression("mul(@0,2)", "x 1", "a", shape="(2,4,6,1)f32"), expression("add(@0,@1)", "1 x y", "b")),
        (expression("mul(@0,2)", "x 1", "a", shape=""), expression("add(@0,1)", "1 y", "b")),
        (expression("mul(@0,2)", "x 1", "a"), expression("add(@0,size(@1,0))", "x 1 y", "b")),
        (expression("mul(@0,2)", "x 1", "a"), expression("add(@0,1)", "1 y", "b"), "pnnx.Output other 1 0 1"),
    ],
    ids=["squared", "read twice", "smaller", "of unknown shape", "size", "returned"],
)
def test_fuse_expressions_leaves_alone(lines: tuple[str, ...]) -> None:
    assert types(build(file_graph(INPUT, *lines, OUTPUT), fuse_expressions)) == ["pnnx.Expression", "pnnx.Expression"]


def test_fuse_expressions_stops_before_a_program_becomes_too_long() -> None:
    chain = [expression("mul(add(@0,1),2)", f"{i or 'x'} {i + 1 if i < 19 else 'y'}", f"e{i}") for i in range(20)]
    assert 1 < len(types(rewritten(fuse_expressions, INPUT, *chain, OUTPUT))) < 10


@pytest.mark.parametrize("text", ERF_FORMS)
def test_recognise_gelu(text: str) -> None:
    assert types(rewritten(recognise_gelu, INPUT, expression(text, "x y"), OUTPUT)) == ["F.gelu"]


@pytest.mark.parametrize(
    "text",
    [
        "mul(mul(@0,add(erf(div(@0,1.5)),1)),0.5)",
        "mul(mul(@0,add(erf(div(@0,1.4142135)),2)),0.5)",
        "mul(@0,add(erf(div(@0,1.4142135)),1))",
        "mul(0.5,add(erf(div(@0,1.4142135)),1))",
        "mul(mul(@0,sub(erf(div(@0,1.4142135)),1)),0.5)",
    ],
)
def test_recognise_gelu_leaves_others_alone(text: str) -> None:
    assert types(build(file_graph(INPUT, expression(text, "x y"), OUTPUT), recognise_gelu)) == ["pnnx.Expression"]


def test_recognise_gelu_leaves_float64_alone() -> None:
    lines = [line.replace("f32", "f64") for line in (INPUT, expression(ERF_FORMS[0], "x y"), OUTPUT)]
    assert types(build(file_graph(*lines), recognise_gelu)) == ["pnnx.Expression"]


CUBES = ("mul(pow(@0,3.0),0.044715)", "mul(0.044715,pow(@0,3))", "mul(mul(mul(@0,@0),@0),0.044715)")


def tanh_gelu_lines(cube: str, behind: str = "mul(mul(@0,0.5),add(@1,1.0))", wires: str = "x t y") -> tuple[str, ...]:
    curve = "F.tanh tanh 1 1 a t $input=a #t=(2,4,6,5)f32"
    argument = expression(f"mul(add(@0,{cube}),0.7978845834732056)", "x a")
    return INPUT, argument, curve, expression(behind, wires, "end")


@pytest.mark.parametrize("cube", CUBES)
@pytest.mark.parametrize("behind", ["mul(mul(@0,0.5),add(@1,1.0))", "mul(0.5,mul(@0,add(1,@1)))"])
def test_recognise_gelu_with_a_tanh(cube: str, behind: str) -> None:
    model = rewritten(recognise_gelu, *tanh_gelu_lines(cube, behind), OUTPUT)
    assert [(op.type, op.str_param("approximate")) for op in model.order[1:-1]] == [("F.gelu", "tanh")]


def test_recognise_gelu_with_a_tanh_leaves_the_product_with_a_gate() -> None:
    gate = expression("add(@0,2.0)", "x g", "gate")
    lines = tanh_gelu_lines(CUBES[0], "mul(mul(mul(@0,0.5),add(@2,1.0)),@1)", "x g t y")
    model = rewritten(recognise_gelu, lines[0], gate, *lines[1:], OUTPUT)
    assert types(model) == ["pnnx.Expression", "F.gelu", "pnnx.Expression"]
    assert len(model.order[-2].inputs) == 2


@pytest.mark.parametrize(
    ("cube", "behind"),
    [
        ("mul(pow(@0,3.0),0.05)", "mul(mul(@0,0.5),add(@1,1.0))"),
        ("mul(pow(@0,2.0),0.044715)", "mul(mul(@0,0.5),add(@1,1.0))"),
        (CUBES[0], "mul(mul(@0,0.5),add(@1,2.0))"),
        (CUBES[0], "mul(@0,add(@1,1.0))"),
        (CUBES[0], "mul(mul(mul(@0,0.5),add(@1,1.0)),@0)"),
        (CUBES[0], "mul(0.5,add(@1,@0))"),
    ],
)
def test_recognise_gelu_leaves_other_curves_alone(cube: str, behind: str) -> None:
    model = build(file_graph(*tanh_gelu_lines(cube, behind), OUTPUT), recognise_gelu)
    assert "F.gelu" not in types(model)


def layer_norm_lines(square: str = "pow(@0,2)", dim: int = -1, affine: bool = True) -> tuple[str, ...]:
    row = "(2,4,6,1)f32"
    mean = "torch.mean {} 1 1 {} {} dim=({}) keepdim=True #{}=" + row
    lines = (
        mean.format("mean", "x", "m", dim, "m"),
        expression("sub(@0,@1)", "x m d", "sub"),
        expression(square, "d s", "square"),
        mean.format("variance", "s", "v", dim, "v"),
        expression("add(@0,1e-05)", "v e", "eps", shape=row),
        expression("sqrt(@0)", "e r", "sqrt", shape=row),
        expression("div(@0,@1)", f"d r {'q' if affine else 'y'}", "div"),
    )
    if not affine:
        return (INPUT, *lines, OUTPUT)
    scaled = (expression("mul(@0,@1)", "q w 9", "mul"), expression("add(@0,@1)", "9 b y", "add"))
    return (INPUT, constant("w", "(5)"), constant("b", "(5)"), *lines, *scaled, OUTPUT)


@pytest.mark.parametrize("square", ["pow(@0,2)", "mul(@0,@0)"])
@pytest.mark.parametrize("affine", [True, False])
def test_recognise_layer_norm(square: str, affine: bool) -> None:
    model = rewritten([recognise_layer_norm, "eliminate_dead_code"], *layer_norm_lines(square, affine=affine))
    assert types(model) == ["nn.LayerNorm"]


def test_recognise_layer_norm_of_another_axis_is_left_alone() -> None:
    lines = layer_norm_lines(dim=2)
    assert "nn.LayerNorm" not in types(build(file_graph(*lines), recognise_layer_norm))


@pytest.mark.parametrize("type_name", ["pnnx.Expression", "nn.LayerNorm"])
def test_recognise_layer_norm_calls_a_students_layer(type_name: str) -> None:
    with override(type_name, Layer):
        assert "nn.LayerNorm" not in types(build(file_graph(*layer_norm_lines()), recognise_layer_norm))


def test_passes_for_onnx_leave_a_reader_in_between_alone() -> None:
    lines = (INPUT, conv("x 1"), expression("add(@0,1)", "1 y"), relu("1 2"), OUTPUT)
    assert "pnnx.Expression" in types(build(file_graph(*lines), fold_affine_into_weights))
