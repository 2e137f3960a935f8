"""What the page shows of models of every kind: with several inputs, with state, without a plan."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import GraphStateError, ShapeError
from kuiper.explore.explore import explore
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry
from kuiper.models import bundled
from tests.explore.nets import net


def test_explore_flags_nan_infinite_and_saturated_values() -> None:
    model = net("pnnx.Input in 0 1 x #x=(1,8)f32", "F.sigmoid a 1 1 x y", "pnnx.Output out 1 0 y")
    x = np.float32([[np.nan, np.inf, -np.inf, 0, 0, 50, -50, 1]])
    data = explore(model, x).data
    before, after = data["values"]["x"], data["values"]["y"]
    assert (before["nan"], before["infinite"], before["zeros"]) == (0.125, 0.25, 0.25)
    assert (before["low"], before["high"]) == (-50, 50)
    assert after["saturated"] == 0.5  # of 0, 0, 1, 1 and nothing else
    json.dumps(data, allow_nan=False)


def test_explore_shows_models_with_several_inputs_and_outputs() -> None:
    model = net(
        "pnnx.Input a 0 1 x #x=(2,3)f32",
        "pnnx.Input b 0 1 y #y=(2,3)i64",
        "pnnx.Expression e 2 1 x y z expr=add(@0,@1)",
        "torch.split s 1 2 z p q dim=0 split_size_or_sections=1",
        "pnnx.Output o1 1 0 p",
        "pnnx.Output o2 1 0 q",
        optimize=True,
    )
    data = model.explore(np.ones((2, 3)), np.full((2, 3), 2)).data
    assert [len(data["model"][key]) for key in ("inputs", "outputs")] == [2, 2]
    assert data["values"]["z"]["mean"] == 3


def test_explore_shows_values_that_are_no_arrays() -> None:
    model = net(
        "pnnx.Input in 0 1 x #x=(2,3)f32",
        "Tensor.size s 1 1 x n dim=1",
        "pnnx.Expression e 2 1 x n z expr=mul(@0,@1)",
        "pnnx.Output out 1 0 z",
        optimize=True,
    )
    data = model.explore(np.ones((2, 3), np.float32)).data
    assert data["values"]["n"] == {"shape": None, "type": "int", "text": "3"}
    assert data["values"]["z"]["mean"] == 3


def test_explore_takes_language_models_with_state() -> None:
    data = kuiper.load(bundled("shakespeare")).explore(np.array([[1, 2, 3]])).data
    assert data["plan"]["steps"]
    assert data["values"][data["model"]["outputs"][0]["value"]]["shape"] == [1, 3, 65]


def test_explore_takes_open_sizes_once_they_are_given() -> None:
    model = kuiper.load(bundled("shapes_unet"))
    with pytest.raises(ShapeError, match=r"a shape with all sizes.*; pass an array for each input"):
        model.explore()
    data = model.explore(np.zeros((1, 3, 32, 32), np.float32)).data
    assert data["model"]["inputs"][0]["shape"] == "(?, 3, ?, ?)"
    assert data["values"]["0"]["shape"] == [1, 3, 32, 32]


def test_explore_says_why_there_is_no_plan() -> None:
    lines = ("pnnx.Input in 0 1 x #x=(?)f32", "nn.ReLU r 1 1 x y", "pnnx.Output out 1 0 y")
    for optimize, reason in ((False, "without an engine"), (True, "leaves these inputs to the layers")):
        data = explore(net(*lines, optimize=optimize), np.float32([])).data
        assert reason in data["plan"]["refusal"]
        assert (data["plan"]["steps"], data["memory"]) == ([], None)
        assert data["values"]["y"]["shape"] == [0]
        assert [run["kind"] for run in data["runs"]] == ["layers"]


def test_explore_shows_a_plan_that_ends_in_front_of_sizes_that_depend_on_numbers() -> None:
    lines = (
        "pnnx.Input in 0 1 x #x=(?)f32",
        "nn.ReLU r 1 1 x p",
        "torch.gt g 1 1 p m other=0",
        "torch.masked_select a 2 1 p m s",
        "torch.amax b 1 1 s y dim=(0) keepdim=True",
        "pnnx.Output out 1 0 y",
    )
    data = explore(net(*lines, optimize=True), np.float32([0, 2, 1])).data
    assert data["plan"]["refusal"] is None
    last = data["plan"]["steps"][-1]
    assert (last["operator"], last["algorithm"]) == ("a", "with all that follows")
    assert (data["values"]["s"]["shape"], data["values"]["y"]["shape"]) == ([2], [1])


def test_explore_shows_mistakes_that_only_make_a_model_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise TypeError("no")

    model = kuiper.load(bundled("cifar_resnet20"))
    monkeypatch.setattr("kuiper.engine.compile.place_buffers", fails)
    with pytest.raises(TypeError):
        model.explore()
    monkeypatch.delenv("KUIPER_STRICT")
    with pytest.warns(kuiper.FallbackWarning):
        data = model.explore().data
    assert data["plan"] == {"steps": [], "refusal": "The engine leaves these inputs to the layers. TypeError: no"}
    assert "TypeError: no; the model runs on its layers, many times slower" in data["left_out"]


def test_explore_shows_a_copy_without_its_file() -> None:
    model = kuiper.load(bundled("cifar_resnet20"))
    x = np.zeros((1, 3, 32, 32), np.float32)
    for twin in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        data = twin.explore(x).data
        assert [stage["name"] for stage in data["stages"]] == ["file", "plan"]
        assert data["left_out"][0].startswith("the graph before the passes")


def test_explore_of_a_graph_that_is_not_built_is_an_error() -> None:
    with pytest.raises(GraphStateError, match="a built graph"):
        RuntimeGraph(bundled("cifar_resnet20")).explore()
    graph = RuntimeGraph(bundled("cifar_resnet20"))
    graph.build(registry)
    with pytest.raises(GraphStateError, match=r"kuiper\.load"):
        graph.explore()
