"""Convolutions with few outputs, several pixels at a time, against the plain ones: the same numbers, to the last.

Integers are added up without rounding, so a difference is a mistake.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kuiper.engine.kernels.convolution import LANES, Convolution
from kuiper.engine.lowering.pixel_runs import best_run, widened
from kuiper.engine.packing import pack
from kuiper.layers.kernels.activations import CODES
from kuiper.layers.reference import conv2d as reference
from kuiper.layers.window import Window
from tests.arrays import small_integers
from tests.engine.lowered import steps_of
from tests.engine.machines import EVERY_MACHINE, KERNELS, ZEN_4
from tests.engine.models import assert_close, both, numbers, plan_of
from tests.engine.one_step import UNTOUCHED, Arena, run_step
from tests.graph.pass_graphs import OUTPUT

WINDOWS = [
    Window((3, 3), before=(1, 1), after=(1, 1)),
    Window((1, 7), (1, 2)),
    Window((5, 4), (2, 3), (2, 1), (1, 2)),
    Window((3, 5), (1, 1), (2, 2), (2, 2), (2, 1)),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("run", [1, 2, 3, 8])
def test_widened_gives_the_pixels_of_a_run_as_outputs(window: Window, run: int) -> None:
    x, weight, bias = (
        small_integers(2, 3, 9, 40),
        small_integers(2, 3, *window.kernel, seed=1),
        small_integers(2, seed=2),
    )
    wanted = reference.conv2d(x, weight, bias, window)
    wide, wide_bias, of_runs = widened(weight, bias, window, run)
    assert wide_bias is not None
    runs = reference.conv2d(x, wide, wide_bias, of_runs)
    n, _, h, count = runs.shape
    pixels = runs.reshape(n, run, 2, h, count).transpose(0, 2, 3, 4, 1).reshape(n, 2, h, count * run)
    np.testing.assert_array_equal(pixels, wanted[..., : count * run])


@pytest.mark.parametrize("activation", [("none", 0, 0), ("clip", -3, 9), ("leaky_relu", -2, 0)])
@pytest.mark.parametrize("width", [LANES, LANES + 1, 3 * LANES - 1, 3 * LANES, 5 * LANES + 3])
@pytest.mark.parametrize("vectors", [1, 3])
def test_convolution_of_runs_writes_no_further_than_to_the_last_pixel_of_a_row(
    vectors: int, width: int, activation: tuple[str, float, float]
) -> None:
    """A run that is cut off, in each row and behind the last one, for tasks that begin anywhere."""
    run = vectors * LANES // (2 if LANES > 1 else 1)
    out_c = vectors * LANES // run
    n, height, window = 2, 3, Window((3, 3), before=(1, 1), after=(1, 1))
    x, weight = small_integers(n, 2, height, width), small_integers(out_c, 2, 3, 3, seed=1)
    wide, _, of_runs = widened(weight, None, window, run)
    packed = pack(KERNELS, wide, None, 1, 1000)
    arena = Arena()
    source, zeros = arena.image(x), arena.zeros(2)
    target = arena.empty(n * height * width * out_c)
    runs = -(-width // run)
    fields = {
        "images": n, "in_h": height, "in_w": width, "out_h": height, "out_w": runs,
        "kernel_h": 3, "kernel_w": of_runs.kernel[1], "stride_h": 1, "stride_w": run,
        "pad_top": 1, "pad_left": 1, "dilation_h": 1, "dilation_w": 1, "depth": 2,
        "source": source["start"], "in_image": source["image"], "in_row": source["row"], "in_pixel": source["pixel"],
        "target": target, "out_image": height * width * out_c, "out_row": width * out_c, "out_pixel": run * out_c,
        "residual": -1, "residual_pixel": 0, "zeros": zeros, "rest": width % run * out_c,
        "panels": len(packed.panels), "panel_groups": 1, "far_weights": 0,
        "activation": CODES[activation[0]], "alpha": activation[1], "beta": activation[2],
    }  # fmt: skip
    wanted = reference.conv2d(x, weight, None, window)
    if activation[0] == "clip":
        wanted = np.clip(wanted, -3, 9)
    if activation[0] == "leaky_relu":
        wanted = np.where(wanted < 0, -2 * wanted, wanted)
    for block, panel_groups in ((1, 1), (2, len(packed.panels)), (5, 1), (1000, 1)):
        step = Convolution(
            {**fields, "block": block, "panel_groups": panel_groups}, packed.weights, packed.bias, packed.panels
        )
        result = run_step(step, arena.array)
        pixels = result[target : target + wanted.size].reshape(n, height, width, out_c).transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(pixels, wanted)
        assert not np.any(result[target + wanted.size :] == UNTOUCHED)  # the slack is NaN, and stays it
        assert np.isnan(result[target + wanted.size :]).all()


def geometry(kernel: int) -> str:
    return f"kernel_size=({kernel},{kernel}) padding=({kernel // 2},{kernel // 2})"


def conv(in_c: int, out_c: int, kernel: tuple[int, int], more: str, activation: str = "") -> list[str]:
    """The lines of a convolution of x0, with what follows it."""
    channels = f"in_channels={in_c} out_channels={out_c} groups=1 bias=True kernel_size=({kernel[0]},{kernel[1]})"
    weights = f"@weight=({out_c},{in_c},{kernel[0]},{kernel[1]})f32 @bias=({out_c})f32"
    last = "c" if activation else "y"
    lines = [f"nn.Conv2d conv 1 1 x0 {last} {channels} {more} {weights}"]
    return [*lines, f"{activation} a 1 1 c y"] if activation else lines


@pytest.mark.skipif(LANES == 1, reason="one number fills a vector of this build")
@pytest.mark.parametrize("width", range(1, 40))
@pytest.mark.parametrize("in_c", [1, 2, 20])
def test_planned_convolution_with_few_outputs_of_any_width(in_c: int, width: int) -> None:
    x = numbers(2, in_c, 5, width + 2)
    for out_c, activation in ((1, "nn.Sigmoid"), (3, ""), (LANES // 2, "nn.ReLU")):
        steps_of(*conv(in_c, out_c, (3, 3), "padding=(1,0)", activation), inputs=[x])
        steps_of(*conv(in_c, out_c, (2, 3), "padding=(0,4) stride=(1,2)", activation), inputs=[x])


@pytest.mark.skipif(LANES < 8, reason="runs are short where vectors are")
def test_planned_convolution_with_few_outputs_computes_runs_of_pixels() -> None:
    lines = conv(8, LANES // 2, (3, 39), "padding=(1,19)")
    fast, plain = both("pnnx.Input in 0 1 x0 #x0=(1,8,20,50)f32", *lines, OUTPUT)
    x = numbers(1, 8, 20, 50)
    assert_close(fast(x), plain(x))
    (segment,) = plan_of(fast, [x]).executable.segments
    assert any("pixels at a time" in step.algorithm for step in segment.steps)  # type: ignore[union-attr]


@pytest.mark.skipif(LANES == 1, reason="one number fills a vector of this build")
def test_planned_convolution_in_the_middle_brings_few_channels_side_by_side() -> None:
    x = numbers(1, 4, 7, 12)
    first = f"nn.Conv2d first 1 1 x0 m in_channels=4 out_channels=1 {geometry(1)} bias=False @weight=(1,4,1,1)f32"
    second = f"nn.Conv2d second 1 1 m y in_channels=1 out_channels=20 {geometry(3)} bias=False @weight=(20,1,3,3)f32"
    assert steps_of(first, second, inputs=[x]) == ["direct", "copy", "direct"]


def test_planned_convolution_reads_a_signal_where_it_lies() -> None:
    """Without a border its pixels are side by side already: frames of it are multiplied with the taps."""
    sizes = "in_channels=1 out_channels=20 kernel_size=(32) stride=(8) bias=False"
    line = f"nn.Conv1d conv 1 1 x0 y {sizes} @weight=(20,1,32)f32"
    assert steps_of(line, inputs=[numbers(2, 1, 100)]) == ["direct"]


def test_best_run_is_one_where_vectors_are_full_or_kernels_narrow() -> None:
    window = Window((3, 3), before=(1, 1), after=(1, 1))
    assert best_run(ZEN_4, (16, 8, 3, 3), window, 50, 50).pixels == 1
    assert best_run(ZEN_4, (1, 8, 1, 1), Window((1, 1)), 50, 50).pixels == 1
    assert best_run(ZEN_4, (1, 8, 3, 3), replace(window, dilation=(1, 2)), 50, 50).pixels == 1
    assert best_run(ZEN_4, (1, 8, 3, 3), replace(window, stride=(3, 3)), 50, 50).pixels == 1  # each column has its own
    assert best_run(ZEN_4, (1, 8, 3, 3), window, 50, 15).pixels == 1  # no row is so long
    assert best_run(ZEN_4, (1, 8, 3, 3), window, 50, 16).pixels == 16


@EVERY_MACHINE
def test_best_run_fills_whole_vectors_and_costs_less(machine) -> None:  # type: ignore[no-untyped-def]
    for out_c in (1, 2, 3, 5, 7, 12):
        one = best_run(machine, (max(out_c, machine.lanes), 8, 3, 39), Window((3, 39)), 100, 100)
        run = best_run(machine, (out_c, 8, 3, 39), Window((3, 39)), 100, 100)
        assert run.pixels == 1 or run.pixels * out_c % machine.lanes == 0
        assert run.cost <= one.cost
