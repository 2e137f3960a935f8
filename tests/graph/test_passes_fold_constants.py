from __future__ import annotations

import sys

import numpy as np
import pytest

from kuiper.graph.passes import eliminate_dead_code, fold_constants
from kuiper.graph.pnnx import DataType
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import INPUT, OUTPUT, build, file_graph, rewritten, types

CONSTANT = "pnnx.Attribute c 0 1 c @data=(5,6)f32"
TURN = "torch.permute turn 1 1 c 1 dims=(1,0) $input=c"
ADD = "pnnx.Expression e 2 1 x 1 y expr=add(@0,@1)"


def test_fold_constants_computes_once_what_does_not_change() -> None:
    model = rewritten([fold_constants, eliminate_dead_code], INPUT, CONSTANT, TURN, ADD, OUTPUT)
    assert [(op.type, op.name) for op in model.order[1:-1]] == [("pnnx.Attribute", "turn"), ("pnnx.Expression", "e")]
    assert model.order[1].attrs["data"].shape == (6, 5)


def test_fold_constants_of_whole_branches() -> None:
    lines = (
        "torch.arange count 0 1 a start=0 end=30 step=1 dtype=torch.float",
        "pnnx.Expression shape 0 1 s expr=[6,5]",
        "Tensor.reshape grid 2 1 a s 2 $input=a $shape=s",
        CONSTANT,
        TURN,
        "pnnx.Expression sum 2 1 1 2 3 expr=add(@0,mul(@1,2))",
        "pnnx.Expression e 2 1 x 3 y expr=add(@0,@1)",
    )
    model = rewritten([fold_constants, eliminate_dead_code], INPUT, *lines, OUTPUT)
    assert types(model) == ["pnnx.Attribute", "pnnx.Expression"]


def test_fold_constants_alone_leaves_the_old_constant_to_dead_code_elimination() -> None:
    model = rewritten(fold_constants, INPUT, CONSTANT, TURN, ADD, OUTPUT)
    assert types(model) == ["pnnx.Attribute", "pnnx.Attribute", "pnnx.Expression"]
    assert model.operators[1].outputs[0].consumers == []


def test_fold_constants_leaves_the_file_as_it_is_and_the_constant_read_only() -> None:
    graph = file_graph("pnnx.Input in 0 1 x", CONSTANT, TURN, "pnnx.Output o 1 0 1", "pnnx.Output p 1 0 x")
    original = graph.operator("c").attrs["data"].data
    assert original is not None
    model = build(graph, fold_constants)
    first, _ = model(np.zeros(3))
    np.asarray(first)[...] = 7  # the caller's own copy
    second, _ = model(np.zeros(3))
    np.testing.assert_array_equal(np.asarray(second), original.T)
    assert original.flags.writeable
    assert not model.operators[2].attrs["data"].data.flags.writeable


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("torch.float", DataType.F32),
        ("torch.double", DataType.F64),
        ("torch.long", DataType.I64),
        ("torch.int", DataType.I32),
        ("torch.bool", DataType.BOOL),
        ("torch.uint8", DataType.U8),
    ],
)
def test_fold_constants_keeps_the_element_type(dtype: str, kind: DataType) -> None:
    lines = ("pnnx.Input in 0 1 x", f"torch.ones ones 0 1 1 size=(2,3) dtype={dtype}", "pnnx.Output o 1 0 1")
    model = rewritten(fold_constants, *lines, inputs=(np.zeros(1, np.float32),))
    assert types(model) == ["pnnx.Attribute"]
    assert model.operators[1].attrs["data"].type is kind


@pytest.mark.parametrize(("limit", "folds"), [(5 * 6 * 4 - 1, True), (10 * 6 * 4 - 1, False), (10 * 6 * 4, True)])
def test_fold_constants_refuses_to_grow_the_model(limit: int, folds: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[fold_constants.__module__], "LARGEST", limit)
    twice = "torch.cat cat 2 1 c c 1 dim=0" if limit >= 10 * 6 * 4 - 1 else "torch.clone same 1 1 c 1 $input=c"
    lines = ("pnnx.Input in 0 1 x", CONSTANT, twice, "pnnx.Output o 1 0 1")
    model = rewritten(fold_constants, *lines, inputs=(np.zeros(1, np.float32),))
    assert (types(model) == ["pnnx.Attribute", "pnnx.Attribute"]) is folds


@pytest.mark.parametrize(
    "lines",
    [
        ("pnnx.Expression e 0 1 1 expr=[2,3]", "pnnx.Output o 1 0 1"),
        ("pnnx.Expression e 0 1 1 expr=2.5", "pnnx.Output o 1 0 1"),
        (CONSTANT, "torch.chunk cut 1 2 c 1 2 chunks=2 dim=1", "pnnx.Output o 1 0 1", "pnnx.Output p 1 0 2"),
        (CONSTANT, "prim::TupleConstruct t 2 1 c c 1", "pnnx.Output o 1 0 1"),
    ],
    ids=["list", "number", "two outputs", "tuple"],
)
def test_fold_constants_leaves_alone(lines: tuple[str, ...]) -> None:
    graph = file_graph("pnnx.Input in 0 1 x", *lines)
    assert types(build(graph, fold_constants)) == types(build(graph))


def test_fold_constants_leaves_errors_to_the_run() -> None:
    model = build(
        file_graph(
            "pnnx.Input in 0 1 x",
            CONSTANT,
            "nn.BatchNorm3d bn 1 1 c y num_features=6 affine=False @running_mean=(6)f32 @running_var=(6)f32",
            OUTPUT,
        ),
        fold_constants,
    )
    with pytest.raises(ValueError, match=r"nn\.BatchNorm3d 'bn': expected input"):
        model.forward(np.zeros(1))


def test_fold_constants_computes_infinities_without_a_word() -> None:
    lines = ("pnnx.Input in 0 1 x", CONSTANT, "pnnx.Expression e 1 1 c y expr=div(1,sub(@0,@0))", OUTPUT)
    assert np.isinf(build(file_graph(*lines), fold_constants).forward(np.zeros(1))).all()


@pytest.mark.parametrize("type_name", ["torch.permute", "pnnx.Attribute"])
def test_fold_constants_calls_a_students_layer(type_name: str) -> None:
    class Mine(Layer):
        def forward(self, *inputs: np.ndarray) -> np.ndarray:
            return np.zeros((6, 5), np.float32)

    graph = file_graph(INPUT, CONSTANT, TURN, ADD, OUTPUT)
    with override(type_name, Mine):
        assert types(build(graph, fold_constants)) == types(build(graph))
