"""Steps that run a few rows at a time write the bits that they write one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kuiper
from kuiper.engine import chains
from kuiper.engine.engine import Engine
from kuiper.graph import RuntimeGraph
from tests.engine.machines import ZEN_3
from tests.engine.models import algorithms, assert_close, both, numbers, plan_of
from tests.graph.pass_graphs import OUTPUT, file_graph

if TYPE_CHECKING:
    from kuiper.machine import Machine


def layer(index: int, kind: str, channels: int, out_channels: int, kernel: int, stride: int, padding: int) -> str:
    """A line of a chain: a convolution, a depthwise one, or a maximum; operand ``index`` in, the next one out."""
    geometry = f"kernel_size=({kernel},{kernel}) stride=({stride},{stride}) padding=({padding},{padding})"
    if kind == "pool":
        return f"nn.MaxPool2d l{index} 1 1 {index} {index + 1} {geometry} dilation=(1,1) ceil_mode=False"
    groups = channels if kind == "depthwise" else 1
    weights = f"@weight=({out_channels},{channels // groups},{kernel},{kernel})f32 @bias=({out_channels})f32"
    sizes = f"in_channels={channels} out_channels={out_channels} groups={groups} bias=True"
    return f"nn.Conv2d l{index} 1 1 {index} {index + 1} {sizes} {geometry} dilation=(1,1) {weights}"


@st.composite
def networks(draw: st.DrawFn) -> list[str]:
    """Two to six layers one behind the other, and an input of 40 rows."""
    lines, channels = ["pnnx.Input in 0 1 0 #0=(1,5,40,23)f32"], 5
    for index in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(["dense", "depthwise", "pool"]))
        kernel = draw(st.sampled_from([1, 2, 3, 5] if kind != "pool" else [2, 3]))
        stride = draw(st.integers(1, min(2, kernel)))
        padding = draw(st.integers(0, kernel // 2))
        out_channels = draw(st.sampled_from([3, 16, 20])) if kind == "dense" else channels
        lines.append(layer(index, kind, channels, out_channels, kernel, stride, padding))
        channels = out_channels
    last = len(lines) - 1
    return [*lines, f"nn.Identity end 1 1 {last} y", OUTPUT]


@settings(max_examples=60)
@given(networks(), st.integers(1, 3), st.sampled_from([(2,), (4, 2), (16, 8)]), st.integers(1, 8))
def test_chain_writes_the_same_bits(lines: list[str], images: int, bands: tuple[int, ...], tasks: int) -> None:
    x = numbers(images, 5, 40, 23)
    graph = file_graph(*lines)
    results = []
    for large in (0, 1 << 20):  # parts of the cache: every image, and none
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chains, "_LARGE", large)
            patch.setattr(chains, "_BANDS", bands)
            patch.setattr(chains, "_TASKS_PER_CORE", tasks)
            patch.setattr(chains, "_ROUNDS", 1)
            model = RuntimeGraph(graph)
            model.build(kuiper.layers.registry, optimize=True, engine=Engine)
            try:
                results.append(np.asarray(model(x)))
            except kuiper.ShapeError:  # the layers have eaten up the image
                return
    np.testing.assert_array_equal(results[0], results[1])


WIDE = (
    "pnnx.Input in 0 1 0 #0=(1,3,160,160)f32",
    layer(0, "dense", 3, 32, 3, 1, 1),
    layer(1, "depthwise", 32, 32, 3, 1, 1),
    layer(2, "dense", 32, 16, 1, 1, 0).replace("1 1 2 3", "1 1 2 y"),
    OUTPUT,
)


def cores(count: int) -> Machine:
    """A machine of this many cores, whose caches are those of Zen 3."""
    return replace(ZEN_3, cores=count)


@pytest.mark.parametrize(("count", "tasks"), [(1, [2]), (2, [4]), (3, [6]), (64, [])])
def test_a_chain_has_as_many_tasks_for_each_core_or_is_none(count: int, tasks: list[int]) -> None:
    fast, plain = both(*WIDE, machine=cores(count))
    x = numbers(1, 3, 160, 160)
    assert_close(fast(x), plain(x))
    columns = [column.heading for column in fast.plan(x).columns]
    at, which = columns.index("tasks"), columns.index("algorithm")
    assert [int(row[at]) for row in fast.plan(x).rows if row[which].startswith("in bands")] == tasks


def test_a_chain_that_does_not_fit_is_cut_at_the_smallest_image() -> None:
    fast, plain = both(
        "pnnx.Input in 0 1 0 #0=(1,3,160,160)f32",
        layer(0, "dense", 3, 32, 3, 1, 1),
        layer(1, "depthwise", 32, 32, 3, 1, 1),
        layer(2, "dense", 32, 16, 1, 1, 0),
        layer(3, "dense", 16, 64, 1, 1, 0),
        layer(4, "depthwise", 64, 64, 3, 2, 1),
        layer(5, "dense", 64, 16, 1, 1, 0).replace("1 1 5 6", "1 1 5 y"),
        OUTPUT,
        machine=replace(ZEN_3, cores=2, l2=1_200_000),
    )
    x = numbers(1, 3, 160, 160)
    assert_close(fast(x), plain(x))
    chained = [row[2] for row in fast.plan(x).rows if row[2].startswith("in bands")]
    assert [algorithm.count("direct 1x1") for algorithm in chained] == [1, 2]  # after the 16 channels, not the 64


@pytest.mark.usefixtures("restore_threads")
def test_large_images_go_through_a_chain_on_any_number_of_threads() -> None:
    fast, plain = both(*WIDE, machine=cores(2))
    x = numbers(1, 3, 160, 160)
    expected = plain(x)
    for threads in (1, 2, 3):
        kuiper.set_num_threads(threads)
        assert_close(fast(x), expected)
    assert algorithms(plan_of(fast, [x])) == ["import", "in", "export"]


def test_images_with_two_readers_are_not_chained() -> None:
    lines = (
        *WIDE[:3],
        layer(2, "dense", 32, 16, 1, 1, 0),
        "nn.Conv2d other 1 1 2 4 in_channels=32 out_channels=16 kernel_size=(1,1) bias=False @weight=(16,32,1,1)f32",
        "torch.cat both 2 1 3 4 y dim=1",
        OUTPUT,
    )
    fast, plain = both(*lines, machine=cores(2))
    x = numbers(1, 3, 160, 160)
    assert_close(fast(x), plain(x))
    assert algorithms(plan_of(fast, [x])).count("in") == 1


def test_a_task_of_a_chain_goes_on_with_the_next_image() -> None:
    machine = cores(1)  # two tasks for three images: the border lies within one
    fast, plain = both(*WIDE, machine=machine)
    x = numbers(3, 3, 160, 160)
    assert_close(fast(x), plain(x))
    assert algorithms(plan_of(fast, [x])) == ["import", "in", "export"]
