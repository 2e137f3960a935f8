"""Functions of stored weights as modules: what the pass takes in, and what it leaves."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.graph.passes import take_in_stored_weights
from kuiper.layers import Layer, override
from tests.graph.pass_graphs import IMAGE, OUTPUT, build, file_graph, rewritten, types

ROWS, FC_OUTPUT = "pnnx.Input in 0 1 x #x=(3,6)f32", "pnnx.Output out 1 0 y"
X = np.random.default_rng(0).standard_normal((3, 6)).astype(np.float32)
FC = "F.linear fc 2 1 x w y bias=None $input=x $weight=w #y=(3,5)f32"


def stored(name: str, shape: str) -> str:
    return f"pnnx.Attribute {name} 0 1 {name} @data={shape}f32 #{name}={shape}f32"


def test_take_in_stored_weights_of_linear_layers() -> None:
    assert (
        types(rewritten(take_in_stored_weights, ROWS, stored("w", "(5,6)"), FC, FC_OUTPUT, inputs=(X,)))[-1]
        == "nn.Linear"
    )
    biased = "F.linear fc 3 1 x w b y $input=x $weight=w $bias=b #y=(3,5)f32"
    model = rewritten(
        take_in_stored_weights, ROWS, stored("w", "(5,6)"), stored("b", "(5)"), biased, FC_OUTPUT, inputs=(X,)
    )
    assert types(model)[-1] == "nn.Linear"


@pytest.mark.parametrize("axes", [1, 2])
def test_take_in_stored_weights_of_convolutions(axes: int) -> None:
    kernel, ones = ",".join(["3"] * axes), ",".join(["1"] * axes)
    shape = IMAGE if axes == 2 else "(2,4,9)f32"
    line = f"F.conv{axes}d conv 3 1 x w b y stride=({ones}) padding=({ones}) dilation=({ones}) groups=2"
    model = rewritten(
        take_in_stored_weights,
        f"pnnx.Input in 0 1 x #x={shape}",
        stored("w", f"(6,2,{kernel})"),
        stored("b", "(6)"),
        f"{line} $input=x $weight=w $bias=b",
        OUTPUT,
        inputs=(np.random.default_rng(0).standard_normal((2, 4, 9, 5)[: axes + 2]).astype(np.float32),),
    )
    assert types(model)[-1] == f"nn.Conv{axes}d"


def test_operators_that_share_a_weight_have_one() -> None:
    first = FC.replace(" w y ", " w m ").replace("#y=(3,5)", "#m=(3,6)")
    second = FC.replace(" fc ", " fc2 ").replace(" x w y ", " m w y ").replace("$input=x", "$input=m")
    model = rewritten(take_in_stored_weights, ROWS, stored("w", "(6,6)"), first, second, FC_OUTPUT, inputs=(X,))
    weights = [op.attrs["weight"] for op in model.operators if op.type == "nn.Linear"]
    assert len(weights) == 2
    assert weights[0] is weights[1]


@pytest.mark.parametrize(
    "lines",
    [
        [FC.replace("bias=None", "bias=0.5")],
        [stored("b", "(1)"), "F.linear fc 3 1 x w b y $input=x $weight=w $bias=b #y=(3,5)f32"],
        [stored("b", "(3,5)"), "F.linear fc 3 1 x w b y $input=x $weight=w $bias=b #y=(3,5)f32"],
        [FC.replace(" w y ", " w m ").replace("#y", "#m"), "torch.matmul mm 2 1 m w y"],
    ],
    ids=["a number", "one for all", "a matrix", "another reader"],
)
def test_take_in_stored_weights_leaves_what_a_module_has_not(lines: list[str]) -> None:
    graph = [ROWS, stored("w", "(5,6)"), *lines, FC_OUTPUT]
    assert "nn.Linear" not in types(rewritten(take_in_stored_weights, *graph, inputs=(X,)))


def test_take_in_stored_weights_leaves_weights_that_the_graph_computes() -> None:
    given = "pnnx.Input w 0 1 w #w=(5,6)f32"
    assert "nn.Linear" not in types(
        rewritten(take_in_stored_weights, ROWS, given, FC, FC_OUTPUT, inputs=(X, X[:2].repeat(3, axis=0)[:5]))
    )


def test_take_in_stored_weights_leaves_layers_that_are_not_kuipers_own() -> None:
    class Linear(Layer):
        data_inputs = None

    with override("F.linear", Linear):
        model = build(file_graph(ROWS, stored("w", "(5,6)"), FC, FC_OUTPUT), take_in_stored_weights)
    assert "F.linear" in types(model)
