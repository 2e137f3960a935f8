"""Stages, keys and groups: what the graph of the page is made of."""

from __future__ import annotations

import random
from typing import Any

import pytest

import kuiper
from kuiper.explore.graph_page import TITLES
from kuiper.explore.groups import find_groups
from kuiper.explore.keys import AFTER, Keys
from kuiper.explore.stages import Stage, read_stages
from kuiper.graph.passes import DEFAULT_PASSES
from kuiper.models import bundled
from tests.explore.nets import net

IN = "pnnx.Input in 0 1 x #x=(1,2,6,6)f32"
CONV = (
    "bias=True dilation=(1,1) groups=1 in_channels=2 kernel_size=(3,3) out_channels=2 padding=(1,1) stride=(1,1) "
    "@bias=(2)f32 @weight=(2,2,3,3)f32"
)
NORM = "affine=True eps=1.0e-05 num_features=2 @bias=(2)f32 @running_mean=(2)f32 @running_var=(2)f32 @weight=(2)f32"


def stages_of(*lines: str) -> dict[str, Stage]:
    return {stage.name: stage for stage in read_stages(net(*lines, optimize=True).stages())}


def node_of(stage: Stage, name: str) -> Any:
    return next(node for node in stage.nodes if node.name == name)


def test_stages_say_what_a_fused_operator_has_taken_in() -> None:
    stages = stages_of(
        IN,
        f"nn.Conv2d conv 1 1 x a {CONV} #a=(1,2,6,6)f32",
        f"nn.BatchNorm2d bn 1 1 a b {NORM} #b=(1,2,6,6)f32",
        "nn.Dropout drop 1 1 b c p=0.5 #c=(1,2,6,6)f32",
        "nn.ReLU relu 1 1 c y #y=(1,2,6,6)f32",
        "pnnx.Output out 1 0 y",
    )
    assert list(stages) == ["file", "remove_no_ops", "fold_batch_norm_into_conv", "fuse_activation_into_conv"]
    dropped = [stages["file"].nodes[i].name for i in stages["remove_no_ops"].removed]
    assert dropped == ["drop"]
    folded = stages["fold_batch_norm_into_conv"]
    new = next(node for node in folded.nodes if node.change == "new")
    assert [stages["remove_no_ops"].nodes[i].name for i in new.sources] == ["conv", "bn"]
    assert folded.removed == []
    last = next(node for node in stages["fuse_activation_into_conv"].nodes if node.change == "new")
    assert last.names == {"conv", "bn", "relu"}
    assert all(node.change == "same" for node in stages["fuse_activation_into_conv"].nodes if node is not last)


def test_stages_say_what_was_moved_and_keys_tell_its_value_apart() -> None:
    lines = (
        IN,
        f"nn.Conv2d conv 1 1 x a {CONV} #a=(1,2,6,6)f32",
        "Tensor.reshape view 1 1 a b shape=(1,72) #b=(1,72)f32",
        "F.sigmoid act 1 1 b y #y=(1,72)f32",
        "pnnx.Output out 1 0 y",
    )
    stages = stages_of(*lines)
    hoisted = stages["hoist_activation_above_views"]
    assert {node.name: node.change for node in hoisted.nodes} == {
        "in": "same", "conv": "same", "act": "moved", "view": "moved", "out": "same",
    }  # fmt: skip
    keys = Keys(list(stages.values()))
    act = node_of(hoisted, "act")
    assert keys.values[keys.value_key(act, act.outputs[0].operand.index)] == "b" + AFTER
    view = node_of(hoisted, "view")
    assert keys.values[keys.value_key(view, view.outputs[0].operand.index)] == "y"
    assert keys.operators[0] != keys.operators[list(stages).index(hoisted.name)]


def test_stages_of_a_pass_that_takes_out_an_operator_name_it() -> None:
    stages = stages_of(
        IN,
        "nn.ReLU a 1 1 x p #p=(1,2,6,6)f32",
        "nn.ReLU b 1 1 x q #q=(1,2,6,6)f32",
        "nn.Sigmoid unused 1 1 p r #r=(1,2,6,6)f32",
        "pnnx.Expression sum 2 1 p q y expr=add(@0,@1) #y=(1,2,6,6)f32",
        "pnnx.Output out 1 0 y",
    )
    twice = stages["eliminate_common_subexpressions"]
    assert [stages["file"].nodes[i].name for i in twice.removed] == ["b"]
    dead = stages["eliminate_dead_code"]
    assert [twice.nodes[i].name for i in dead.removed] == ["unused"]


def test_every_pass_has_a_title() -> None:
    assert TITLES.keys() == {"file", "plan", *(rewrite.__name__ for rewrite in DEFAULT_PASSES)}


@pytest.mark.parametrize("name", ["cifar_resnet20", "digits_yolo", "shapes_unet", "tang"])
def test_every_operator_of_a_stage_comes_from_the_file(name: str) -> None:
    stages = read_stages(kuiper.load(bundled(name)).stages())
    names = {node.name for node in stages[0].nodes}
    for stage in stages:
        assert all(node.names and node.names <= names for node in stage.nodes)
        for source, target, _ in stage.edges():
            assert source < target  # in topological order


def random_graph(seed: int, size: int) -> tuple[dict[int, str], list[tuple[int, int]]]:
    generator = random.Random(seed)
    names = {i: f"block{generator.randrange(4)}.{generator.randrange(3)}.op{i}" for i in range(size)}
    edges = [(generator.randrange(i), i) for i in range(1, size) for _ in range(generator.randint(1, 2))]
    return names, list(dict.fromkeys(edges))


@pytest.mark.parametrize("seed", range(30))
def test_find_groups_makes_no_circles(seed: int) -> None:
    names, edges = random_graph(seed, 40)
    groups = find_groups(names, edges)
    box = {node: groups.get(node, str(node)) for node in names}
    below: dict[str, set[str]] = {name: set() for name in box.values()}
    for source, target in edges:
        if box[source] != box[target]:
            below[box[source]].add(box[target])
    while below:  # take off what nothing leads to, until nothing is left
        free = set(below) - set().union(*below.values())
        assert free
        below = {name: others for name, others in below.items() if name not in free}


def test_find_groups_of_bundled_models_are_their_blocks() -> None:
    def groups(name: str) -> dict[str, int]:
        stage = read_stages(kuiper.load(bundled(name)).stages())[0]
        found = find_groups({i: node.name for i, node in enumerate(stage.nodes)}, [(a, b) for a, b, _ in stage.edges()])
        return {group: list(found.values()).count(group) for group in found.values()}

    assert len(groups("cifar_resnet20")) == 9  # of three residual blocks each, three parts
    layers = groups("tang")
    assert {name for name in layers if name.startswith("model.layers.")} >= {f"model.layers.{i}" for i in range(4)}
