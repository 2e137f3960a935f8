"""Depthwise convolutions and those in narrow groups, as a graph has them: heights, widths and their settings differ."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES
from tests.engine.lowered import steps_of
from tests.engine.models import both, numbers, plan_of
from tests.graph.pass_graphs import OUTPUT, relu

NARROW = max(1, min(4, LANES // 2))  # channels of a group of which a vector holds several
GEOMETRIES = [
    "kernel_size=(3,3) stride=(1,1) padding=(1,1) dilation=(1,1)",
    "kernel_size=(3,5) stride=(2,1) padding=(1,0) dilation=(1,2)",
    "kernel_size=(5,2) stride=(1,3) padding=(0,1) dilation=(2,1)",
    "kernel_size=(1,4) stride=(3,2) padding=(0,2) dilation=(1,1)",
]


def grouped(channels: int, own: int, geometry: str, wires: str = "x0 y", name: str = "conv") -> str:
    """A line: a convolution in groups of ``own`` channels that keeps the number of channels."""
    source, target = wires.split()
    kernel = geometry.partition("(")[2].partition(")")[0]
    settings = f"in_channels={channels} out_channels={channels} groups={channels // own} bias=True {geometry}"
    weights = f"@weight=({channels},{own},{kernel})f32 @bias=({channels})f32"
    return f"nn.Conv2d {name} 1 1 {source} {target} {settings} {weights}"


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("batch", [1, 2])
def test_depthwise_convolution_of_oblong_images(geometry: str, batch: int) -> None:
    [step] = steps_of(grouped(LANES + 3, 1, geometry), inputs=[numbers(batch, LANES + 3, 9, 14)])
    assert step == "depthwise"


@pytest.mark.skipif(LANES < 4, reason="this CPU cannot turn narrow groups round in a vector")
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_narrow_groups_of_oblong_images(geometry: str) -> None:
    [step] = steps_of(grouped(2 * LANES, NARROW, geometry), inputs=[numbers(2, 2 * LANES, 9, 14)])
    assert step == "groups"


def test_depthwise_convolution_adds_a_residual_and_activates() -> None:
    line = grouped(6, 1, GEOMETRIES[0], "x0 1")
    added = "pnnx.Expression add 2 1 1 x1 2 expr=add(@0,@1) #2=(2,6,9,14)f32"
    [step] = steps_of(line, added, relu("2 y"), inputs=[numbers(2, 6, 9, 14), numbers(2, 6, 9, 14, seed=1)])
    assert step == "depthwise"


def test_plan_of_a_depthwise_convolution_counts_its_work() -> None:
    geometry = GEOMETRIES[1]
    fast, _ = both(f"pnnx.Input in 0 1 x0 #x0=(2,{2 * LANES},9,14)f32", grouped(2 * LANES, NARROW, geometry), OUTPUT)
    x = numbers(2, 2 * LANES, 9, 14)
    fast(x)
    plan = plan_of(fast, [x])
    [card] = [step for part in plan.executable.compiled() for step in part.steps if step.algorithm.endswith("3x5")]
    out = np.asarray(fast(x))
    assert card.flops == 2 * out.size * NARROW * 3 * 5
