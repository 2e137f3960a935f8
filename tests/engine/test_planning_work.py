"""Building and planning a graph ten times as long, or as wide, take some ten times the work, counted in calls."""

from __future__ import annotations

import cProfile
import pstats
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.engine import chains
from kuiper.engine.engine import Engine
from kuiper.engine.runner import Runner
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry
from tests.engine.machines import ZEN_3
from tests.graph.pass_graphs import file_graph

if TYPE_CHECKING:
    from collections.abc import Callable

IMAGE = "(1,4,8,8)f32"
CONV = (
    "bias=False dilation=(1,1) groups=4 in_channels=4 kernel_size=(3,3) out_channels=4 padding=(1,1) "
    "padding_mode=zeros stride=(1,1) @weight=(4,1,3,3)f32"
)


def chain(count: int) -> list[str]:
    """One convolution behind the other."""
    body = [f"nn.Conv2d c{i} 1 1 {i} {i + 1} {CONV}" for i in range(count)]
    return [f"pnnx.Input in 0 1 0 #0={IMAGE}", *body, f"pnnx.Output out 1 0 {count}"]


def fan(count: int) -> list[str]:
    """All read the input, and all are outputs."""
    body = [f"nn.Softmax s{i} 1 1 0 {i + 1} dim={i % 3 + 1}" for i in range(count)]
    return [f"pnnx.Input in 0 1 0 #0={IMAGE}", *body, *(f"pnnx.Output o{i} 1 0 {i + 1}" for i in range(count))]


def star(count: int) -> list[str]:
    """All read the input, and one reads all."""
    body = [f"nn.LeakyReLU l{i} 1 1 0 {i + 1} negative_slope=0.{i + 1:05}" for i in range(count)]
    names = " ".join(str(i + 1) for i in range(count))
    cat = f"torch.cat cat {count} 1 {names} {count + 1} dim=1"
    return [f"pnnx.Input in 0 1 0 #0={IMAGE}", *body, cat, f"pnnx.Output out 1 0 {count + 1}"]


def calls(lines: list[str]) -> int:
    """How many calls of functions it takes to build a graph and to plan it."""
    graph = file_graph(*lines)
    profile = cProfile.Profile()
    profile.enable()
    model = RuntimeGraph(graph)
    model.build(registry, True, None, Engine)
    assert isinstance(model._execution.executor, Engine)
    plan = model._execution.executor.plan_for([np.zeros((1, 4, 8, 8), np.float32)])
    profile.disable()
    assert isinstance(plan, Runner)
    return int(pstats.Stats(profile).total_calls)


@pytest.mark.parametrize("graph", [chain, fan, star])
def test_planning_takes_work_that_grows_with_the_graph(graph: Callable[[int], list[str]]) -> None:
    calls(graph(10))  # what is done once in a process
    few, many = calls(graph(60)), calls(graph(600))
    assert many < 10 * 1.5 * few


def test_chains_are_measured_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    bands = chains._bands
    monkeypatch.setattr(chains, "_bands", lambda links, machine: counted.append(len(links)) or bands(links, machine))
    lines = [line.replace(IMAGE, "(1,4,64,64)f32") for line in chain(8)]
    model = RuntimeGraph(file_graph(*lines))
    model.build(registry, True, None, partial(Engine, machine=replace(ZEN_3, l2=16 << 10)))
    assert isinstance(model._execution.executor, Engine)
    assert isinstance(model._execution.executor.plan_for([np.zeros((1, 4, 64, 64), np.float32)]), Runner)
    assert counted
    assert len(counted) <= 7 * 8 // 2  # no part of a chain twice
