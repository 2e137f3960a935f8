from __future__ import annotations

from pathlib import Path

import pytest

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx import (
    Attribute,
    DataType,
    Graph,
    Operand,
    Operator,
    Parameter,
    ParameterType,
    format_param,
    parse_param,
)
from tests.fixtures.operator_files import graph_files


def graph_of(*lines: str) -> Graph:
    """The graph of operator lines, with a header that fits."""
    count = sum(int(line.split(" ")[3]) for line in lines)
    return parse_param("\n".join(["7767517", f"{len(lines)} {count}", *lines, ""]), "m.param")


def test_parse_param_reads_every_part_of_a_line() -> None:
    graph = graph_of(
        "pnnx.Input pnnx_input_0 0 1 0 #0=(1,?,%w)f32",
        "nn.Conv1d layer.0.conv 1 1 0 1 bias=False stride=(2) @out_proj.weight=(4,3,1)f16 "
        "@m.0.bias=(4)bf16 $input=0 #0=(1,?,%w)f32 #1=(1,4,?)f16",
        "pnnx.Output pnnx_output_0 1 0 1",
    )
    conv = graph.operator("layer.0.conv")
    assert conv.type == "nn.Conv1d"
    assert conv.params == {
        "bias": Parameter(ParameterType.BOOL, False, "False"),
        "stride": Parameter(ParameterType.INT_LIST, [2], "(2)"),
    }
    assert conv.attrs == {
        "out_proj.weight": Attribute(DataType.F16, (4, 3, 1)),
        "m.0.bias": Attribute(DataType.BF16, (4,)),
    }
    assert conv.input_names == ["input"]
    source, result = graph.operand("0"), graph.operand("1")
    assert (source.shape, source.type) == ((1, None, "w"), DataType.F32)
    assert (result.shape, result.type) == ((1, 4, None), DataType.F16)
    assert source.producer is graph.operators[0]
    assert source.consumers == [conv]
    assert conv.inputs == [source]
    assert conv.outputs == [result]
    assert result.consumers == [graph.operators[2]]
    assert graph.operands == [source, result]


def test_parse_param_names_the_inputs_of_a_repeated_operand_in_order() -> None:
    graph = graph_of(
        "pnnx.Input in 0 1 0",
        "F.scaled_dot_product_attention a 3 1 0 0 0 1 $query=0 $key=0 $value=0",
        "torch.cat c 3 1 0 1 0 2 $first=0 $second=1 $third=0 #0=(1)f32 #1=(1)f32 #0=(1)f32",
        "pnnx.Output out 1 0 2",
    )
    assert graph.operator("a").input_names == ["query", "key", "value"]
    assert graph.operator("c").input_names == ["first", "second", "third"]
    assert graph.operand("0").consumers == [graph.operator("a"), graph.operator("c")]


def test_parse_param_takes_fields_in_any_order() -> None:
    line = "nn.ReLU r 1 1 0 1 #1=(3)f32 $input=0 @w=(2)i8 a=1 #0=(3)f32 b=x"
    graph = graph_of("pnnx.Input in 0 1 0", line, "pnnx.Output out 1 0 1")
    relu = graph.operator("r")
    assert list(relu.params) == ["a", "b"]
    assert relu.input_names == ["input"]
    assert graph.operand("1").shape == (3,)


def test_parse_param_takes_absent_names_and_shapes() -> None:
    graph = graph_of("pnnx.Input in 0 1 0", "Tensor.size s 1 1 0 1 dim=0", "pnnx.Output out 1 0 1")
    assert graph.operator("s").input_names == [""]
    assert graph.operand("1").shape is None
    assert graph.operand("1").type is DataType.NULL


def test_parse_param_takes_operators_without_inputs_or_outputs() -> None:
    graph = graph_of(
        "pnnx.Attribute constant 0 1 0 @data=(2)f32 #0=(2)f32", "prim::Print nothing 0 0", "pnnx.Output out 1 0 0"
    )
    assert [len(op.inputs) + len(op.outputs) for op in graph.operators] == [1, 0, 1]
    assert graph.operators[0].attrs["data"].shape == (2,)


def test_parse_param_takes_long_and_foreign_names() -> None:
    name, kind = "größe_层\u3000" + "x" * 40, "models.common.a_very_long_type_name"
    graph = graph_of(f"{kind} {name} 0 1 операнд", "pnnx.Output out 1 0 операнд")
    assert (graph.operators[0].type, graph.operators[0].name) == (kind, name)
    assert graph.operands[0].name == "операнд"
    assert parse_param(format_param(graph), "again").operators[0].name == name


@pytest.mark.parametrize("end", ["\n", "\r\n", "", "\n\n\n", " \t\r\n \r\n"])
def test_parse_param_tolerates_line_ends_and_trailing_blanks(end: str) -> None:
    lines = ["7767517 ", "2 1\t", "pnnx.Input  \t in 0 1 0 #0=(1)f32  ", "pnnx.Output out 1 0 0"]
    separator = "\r\n" if "\r" in end else "\n"
    graph = parse_param(separator.join(lines) + end, "m.param")
    assert [op.name for op in graph.operators] == ["in", "out"]
    assert graph.operand("0").shape == (1,)


def test_parse_param_keeps_everything_behind_the_first_equals_sign() -> None:
    graph = graph_of("pnnx.Expression e 0 1 0 expr=eq(1,=2)=x", "A b 0 1 1 k==", "pnnx.Output out 2 0 0 1")
    assert graph.operators[0].params["expr"].value == "eq(1,=2)=x"
    assert graph.operators[1].params["k"].value == "="


def test_parse_param_keeps_an_expression_as_text() -> None:
    graph = graph_of("pnnx.Expression e 0 1 0 expr=[1,2.5]", "Other o 0 1 1 expr=[1,2]", "pnnx.Output out 2 0 0 1")
    assert graph.operators[0].params["expr"].value == "[1,2.5]"
    assert graph.operators[1].params["expr"].value == [1, 2]


def test_parse_param_joins_a_value_with_blanks() -> None:
    graph = graph_of("torch.einsum e 0 1 0 equation=ij, jk -> ik k=(1, 2) #0=(1)f32", "pnnx.Output out 1 0 0")
    assert graph.operators[0].params["equation"].value == "ij, jk -> ik"
    assert graph.operators[0].params["k"].value == [1, 2]
    assert parse_param(format_param(graph), "again").operators[0].params == graph.operators[0].params


def test_parse_param_takes_two_operators_of_one_name_without_weights() -> None:
    graph = graph_of("pnnx.Input x 0 1 0", "nn.ReLU x 1 1 0 1", "pnnx.Output x 1 0 1")
    assert graph.operator("x") is graph.operators[0]


def test_graph_lookup_by_an_unknown_name_is_a_key_error() -> None:
    graph = graph_of("pnnx.Input x 0 1 0", "pnnx.Output y 1 0 0")
    with pytest.raises(KeyError):
        graph.operator("z")
    with pytest.raises(KeyError):
        graph.operand("1")


OLD_STYLE = """7767517
9 8
pnnx.Input               pnnx_input_0             0 1 x.1 #x.1=(1,3,8,8)f32
nn.Conv2d                model.0.conv             1 1 x.1 2 bias=True dilation=(1,1) groups=1 in_channels=3 \
kernel_size=(3,3) out_channels=4 padding=(1,1) padding_mode=zeros stride=(1,1) @bias=(4)f32 @weight=(4,3,3,3)f32 \
#x.1=(1,3,8,8)f32 #2=(1,4,8,8)f32
nn.BatchNorm2d           model.0.bn               1 1 2 3 affine=True eps=1.000000e-05 num_features=4 @bias=(4)f32 \
@running_mean=(4)f32 @running_var=(4)f32 @weight=(4)f32 #2=(1,4,8,8)f32 #3=(1,4,8,8)f32
F.leaky_relu             F.leaky_relu_0           1 1 3 4 negative_slope=1.000000e-01 #3=(1,4,8,8)f32 #4=(1,4,8,8)f32
F.upsample               F.upsample_1             1 1 4 5 align_corners=None mode=nearest \
scale_factor=(2.000000e+00,2.000000e+00) size=None #4=(1,4,8,8)f32 #5=(1,4,16,16)f32
Tensor.view              Tensor.view_2            1 1 5 6 shape=(1,-1) #5=(1,4,16,16)f32 #6=(1,1024)f32
pnnx.Expression          pnnx_expr_3              2 1 6 6 7 expr=add(mul(@0,5.000000e-01),@1) #6=(1,1024)f32 \
#6=(1,1024)f32 #7=(1,1024)f32
prim::TupleConstruct     pnnx_tuple_4             1 1 7 8 #7=(1,1024)f32
pnnx.Output              pnnx_output_0            1 0 8
"""


def test_old_style_files_read_and_round_trip() -> None:
    graph = parse_param(OLD_STYLE, "old.param")
    assert graph.operator("model.0.bn").params["eps"].value == 1e-5
    assert graph.operator("F.upsample_1").params["scale_factor"].value == [2.0, 2.0]
    assert graph.operator("F.upsample_1").params["size"].value is None
    assert graph.operator("Tensor.view_2").params["shape"].value == [1, -1]
    assert graph.operator("pnnx_expr_3").input_names == ["", ""]
    assert graph.operand("8").shape is None
    assert format_param(graph) == OLD_STYLE


def test_format_param_repeats_what_pnnx_wrote() -> None:
    texts = {path.name: path.read_bytes().decode() for path in graph_files()}
    assert len(texts) > 800
    assert {name: format_param(parse_param(text, name)) for name, text in texts.items()} == texts


def test_format_param_pads_by_bytes_and_never_cuts() -> None:
    graph = graph_of("A é 0 1 0", f"{'T' * 30} {'n' * 24} 1 1 0 1", "pnnx.Output out 1 0 1")
    lines = format_param(graph).split("\n")
    assert lines[2] == f"A{' ' * 24}é{' ' * 23}0 1 0"
    assert lines[3] == f"{'T' * 30} {'n' * 24} 1 1 0 1"


def test_format_param_writes_a_graph_made_in_code() -> None:
    graph = Graph()
    x = Operand("x", type=DataType.F32, shape=(1, None))
    y = Operand("y")
    graph.operands += [x, y]
    graph.operators += [
        Operator("pnnx.Input", "in", outputs=[x]),
        Operator("nn.ELU", "elu", [x], [y], ["input"], {"alpha": Parameter(ParameterType.FLOAT, 0.5)}),
        Operator("pnnx.Output", "out", inputs=[y]),
    ]
    assert format_param(graph).split("\n")[:4] == [
        "7767517",
        "3 2",
        "pnnx.Input               in                       0 1 x #x=(1,?)f32",
        "nn.ELU                   elu                      1 1 x y alpha=0.5 $input=x #x=(1,?)f32",
    ]


@pytest.mark.parametrize(
    "op",
    [
        Operator("", "name"),
        Operator("A", "two words"),
        Operator("A", "line\nbreak"),
        Operator("A", "half_\ud800"),
        Operator("A", "n", outputs=[Operand("a=b")]),
        Operator("A", "n", params={"@k": Parameter(ParameterType.INT, 1)}),
        Operator("A", "n", params={"k=": Parameter(ParameterType.INT, 1)}),
        Operator("A", "n", attrs={"a b": Attribute(DataType.F32, (1,))}),
    ],
)
def test_format_param_refuses_names_that_break_the_line(op: Operator) -> None:
    with pytest.raises(ModelFormatError, match="expected a name that fits in a line"):
        format_param(Graph([op]))


def test_the_example_of_the_documentation_is_a_file_that_pnnx_could_have_written() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "pnnx-format.md").read_text(encoding="utf-8")
    example = page.partition("```pnnx\n")[2].partition("```")[0]
    graph = parse_param(example, "docs/reference/pnnx-format.md")
    assert [op.name for op in graph.operators][1:4] == ["stem.conv", "torch.cat_0", "pnnx_expr_0"]
    assert format_param(graph) == example
