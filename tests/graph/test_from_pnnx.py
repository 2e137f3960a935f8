"""What a graph of the runtime leaves out of what the file says."""

from __future__ import annotations

import numpy as np

from kuiper.graph import pnnx
from kuiper.graph.from_pnnx import runtime_operators
from tests.graph.pass_graphs import INPUT, OUTPUT, build, conv, file_graph

WEIGHT = "pnnx.Attribute shared 0 1 w @data=(4,4,3,3)f32 #w=(4,4,3,3)f32"
BIAS = "pnnx.Attribute also_shared 0 1 b @data=(4)f32 #b=(4)f32"


def with_weight_inputs(line: str) -> str:
    """A convolution as pnnx writes it where two modules share its weights."""
    return line.replace(" 1 1 ", " 3 1 w b ", 1)


def test_weights_that_modules_share_are_no_inputs() -> None:
    lines = (INPUT, BIAS, WEIGHT, conv("x 1"), conv("1 y", "second"), OUTPUT)
    graph = file_graph(*(with_weight_inputs(line) if line.startswith("nn.Conv2d") else line for line in lines))
    for op in graph.operators[3:5]:
        op.attrs["weight"].data = graph.operator("shared").attrs["data"].data
        op.attrs["bias"].data = graph.operator("also_shared").attrs["data"].data
    plain = file_graph(*lines)
    for op, other in zip(plain.operators, graph.operators, strict=True):
        op.attrs = other.attrs
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 5)).astype(np.float32)
    np.testing.assert_array_equal(build(graph).forward(x), build(plain).forward(x))


def test_a_constant_that_is_not_a_weight_of_the_operator_stays_an_input() -> None:
    query = "pnnx.Attribute query 0 1 q @data=(1,2,4)f32 #q=(1,2,4)f32"
    attention = (
        "nn.MultiheadAttention a 3 1 q x x y embed_dim=4 num_heads=2 bias=False batch_first=True "
        "@in_proj_weight=(12,4)f32 @out_proj.weight=(4,4)f32 $query=q $key=x $value=x #y=(1,2,4)f32"
    )
    model = build(file_graph("pnnx.Input in 0 1 x #x=(1,3,4)f32", query, attention, OUTPUT))
    (op,) = [op for op in model.order if op.name == "a"]
    assert [operand.name for operand in op.inputs] == ["q", "x", "x"]
    assert op.input_names == ["query", "key", "value"]
    assert model.forward(np.ones((1, 3, 4), np.float32)).shape == (1, 2, 4)


def test_operators_that_share_an_array_of_bfloat16_share_the_weight() -> None:
    data = np.array([0x3F80, 0x4000], np.uint16)  # 1 and 2
    kinds = (pnnx.DataType.BF16, pnnx.DataType.BF16, pnnx.DataType.U16)
    operators = [pnnx.Operator("nn.X", kind.name, attrs={"w": pnnx.Attribute(kind, (2,), data)}) for kind in kinds]
    first, second, bits = (op.attrs["w"] for op in runtime_operators(pnnx.Graph(operators), "model")[0])
    assert first is second
    np.testing.assert_array_equal(first.data, [1, 2])
    np.testing.assert_array_equal(bits.data, data)
