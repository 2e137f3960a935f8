"""Networks that are planned for machines with other caches, vectors and cores: all of them compute the same."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kuiper
from kuiper.engine.engine import Engine
from kuiper.engine.kernels.split_int8_product import RUNS
from kuiper.errors import ParameterError
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry
from kuiper.machine import REPRODUCIBLE, Machine, facts_of, stated, this_machine
from kuiper.models import bundled
from tests.engine.machines import EVERY_MACHINE, MACHINES, SAPPHIRE_RAPIDS, SKYLAKE, runnable
from tests.engine.models import assert_close, numbers, plan_of
from tests.graph.pass_graphs import OUTPUT, file_graph

if TYPE_CHECKING:
    from kuiper.graph import pnnx


def conv(name: str, source: str, target: str, channels: int, out_channels: int, more: str, groups: int = 1) -> str:
    weight = f"@weight=({out_channels},{channels // groups},3,3)f32 @bias=({out_channels})f32"
    sizes = f"in_channels={channels} out_channels={out_channels} groups={groups} bias=True kernel_size=(3,3)"
    return f"nn.Conv2d {name} 1 1 {source} {target} {sizes} padding=(1,1) dilation=(1,1) {more} {weight}"


def network() -> pnnx.Graph:
    """Convolutions of every kind, a transposed one in groups, attention, a linear layer."""
    return file_graph(
        "pnnx.Input in 0 1 0 #0=(1,5,20,24)f32",
        conv("first", "0", "1", 5, 48, "stride=(1,1)"),
        conv("same", "1", "2", 48, 48, "stride=(1,1)"),
        conv("half", "2", "3", 48, 64, "stride=(2,2)"),
        conv("each", "3", "4", 64, 64, "stride=(1,1)", groups=64),
        conv("eights", "4", "5", 64, 64, "stride=(1,1)", groups=8),
        conv("fours", "5", "6", 64, 64, "stride=(1,1)", groups=16),
        "nn.ConvTranspose2d up 1 1 6 7 in_channels=64 out_channels=64 groups=4 bias=False kernel_size=(2,2) "
        "stride=(2,2) padding=(0,0) output_padding=(0,0) dilation=(1,1) @weight=(64,16,2,2)f32",
        "Tensor.reshape rows 1 1 7 8 shape=(1,4,480,16)",
        "F.scaled_dot_product_attention mixed 3 1 8 8 8 9 $query=8 $key=8 $value=8 dropout_p=0.0 is_causal=False",
        "nn.Linear last 1 1 9 y in_features=16 out_features=20 bias=True @weight=(20,16)f32 @bias=(20)f32",
        OUTPUT,
    )  # fmt: skip


def planned(graph: pnnx.Graph, machine: Machine | None, reproducible: bool = False) -> RuntimeGraph:
    model = RuntimeGraph(graph)
    model.build(registry, True, None, partial(Engine, machine=machine, reproducible=reproducible))
    return model


X = numbers(1, 5, 20, 24)


@pytest.fixture(scope="module")
def graph() -> pnnx.Graph:
    return network()


@pytest.fixture(scope="module")
def by_layers(graph: pnnx.Graph) -> np.ndarray:
    plain = RuntimeGraph(graph)
    plain.build(registry)
    return np.asarray(plain(X))


@EVERY_MACHINE
def test_what_is_planned_for_any_machine_computes_the_same(
    machine: Machine, graph: pnnx.Graph, by_layers: np.ndarray
) -> None:
    for cores in (1, 16):
        assert_close(planned(graph, replace(runnable(machine), cores=cores))(X), by_layers)


def test_reproducible_chooses_alike_and_computes_equal_bits_on_any_machine(graph: pnnx.Graph) -> None:
    models = [planned(graph, runnable(machine), reproducible=True) for machine in (this_machine(), *MACHINES)]
    results = [np.asarray(model(X)) for model in models]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    assert all(plan_of(model, [X]).executable.choices == REPRODUCIBLE for model in models)


def test_machines_that_choose_alike_compute_equal_bits_however_steps_are_cut(graph: pnnx.Graph) -> None:
    other = replace(SKYLAKE, cores=16, l1=64 << 10, l3=0, clock=10**9)
    one, another = (np.asarray(planned(graph, machine)(X)) for machine in (SKYLAKE, other))
    np.testing.assert_array_equal(one, another)


def test_a_plan_says_what_it_is_for(graph: pnnx.Graph) -> None:
    machine = replace(runnable(SAPPHIRE_RAPIDS), cores=3)
    own = planned(graph, machine).plan(X, runs=1).footer.splitlines()
    assert own[1:] == ["planned for Sapphire Rapids, x86-64-v4", f"  {facts_of(machine)}"]
    fixed = planned(graph, machine, reproducible=True).plan(X, runs=1).footer.splitlines()
    assert fixed[:3] == [fixed[0], *own[1:]]
    assert fixed[3:] == ["algorithms chosen for any machine, reproducibly", f"  {facts_of(REPRODUCIBLE)}"]


def test_load_plans_for_the_machine_that_is_given() -> None:
    x = np.zeros((1, 3, 32, 32), np.float32)
    param = bundled("cifar_resnet20")
    words = kuiper.load(param, machine="l2=256K cores=1")
    assert plan_of(words, [x]).executable.machine == stated(this_machine(), "l2=256K cores=1")
    whole = kuiper.load(param, machine=runnable(SAPPHIRE_RAPIDS))
    assert plan_of(whole, [x]).executable.machine == plan_of(whole, [x]).executable.choices == runnable(SAPPHIRE_RAPIDS)
    assert plan_of(kuiper.load(param), [x]).executable.machine == this_machine()


def test_load_refuses_machines_that_cannot_be_meant() -> None:
    param = bundled("cifar_resnet20")
    with pytest.raises(ParameterError, match="machine: expected l2 from 16K to 1G, such as l2=512K, got l2=none"):
        kuiper.load(param, machine="l2=none")
    with pytest.raises(ParameterError, match="load: expected a machine, or reproducible=True, got both"):
        kuiper.load(param, machine="cores=1", reproducible=True)


@pytest.mark.skipif(RUNS, reason="this CPU has the instruction, or this build does without")
def test_load_refuses_a_machine_with_more_features_than_this_one() -> None:
    with pytest.raises(ParameterError, match="machine: expected features that this CPU and this build of kuiper have"):
        kuiper.load(bundled("cifar_resnet20"), machine=SAPPHIRE_RAPIDS)
