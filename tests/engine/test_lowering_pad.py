"""Padding in a plan: all modes, all axes, negative amounts."""

from __future__ import annotations

import pytest

from tests.engine.lowered import steps_of
from tests.engine.models import numbers

CONV = "nn.Conv2d conv 1 1 2 y in_channels=3 out_channels=4 kernel_size=(3,3) bias=False @weight=(4,3,3,3)f32"


@pytest.mark.parametrize(
    ("shape", "pad"),
    [
        ((7,), (2, 1)), ((3, 7), (0, 4)), ((2, 3, 7), (1, 2, 3, 0)), ((2, 3, 5, 7), (1, 2, 3, 4)),
        ((2, 3, 5, 7), (2, 2)),
        ((2, 3, 5, 7), (0, 0, 1, 1)), ((2, 3, 5, 7), (0, 0, 0, 0, 2, 1)), ((2, 3, 5, 7), (1, -1, -2, 3)),
        ((2, 3, 5, 7), (-1, 0, 0, -2)), ((1, 2, 3, 4, 5), (1, 0, 0, 1, 2, 2)),
        ((2, 20, 3, 3), (1, 1, 1, 1, 1, 1, 1, 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [0.0, -1.5, float("inf")])
def test_constant_padding_is_copies(shape: tuple[int, ...], pad: tuple[int, ...], value: float) -> None:
    line = f"F.pad pad 1 1 x0 y mode=constant pad=({','.join(map(str, pad))}) value={value}"
    steps = steps_of(line, inputs=[numbers(*shape)])
    assert set(steps) <= {"copy"}


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("shape", "pad"),
    [
        ((3, 7), (2, 1)), ((2, 3, 7), (0, 6)), ((2, 3, 5, 7), (1, 2, 3, 4)), ((2, 3, 5, 7), (6, 0, 0, 4)),
        ((2, 17, 5, 7), (2, -3, -1, 2)), ((2, 3, 5, 7), (0, 0, 1, 0)), ((2, 3, 5, 7), (-1, -2, 0, 0)),
    ],
)  # fmt: skip
def test_padding_that_repeats_is_copies(mode: str, shape: tuple[int, ...], pad: tuple[int, ...]) -> None:
    line = f"F.pad pad 1 1 x0 y mode={mode} pad=({','.join(map(str, pad))})"
    assert set(steps_of(line, inputs=[numbers(*shape)])) <= {"copy"}


@pytest.mark.parametrize(
    ("mode", "pad"),
    [("reflect", (3, -1)), ("reflect", (3, -2)), ("reflect", (-2, 3)), ("replicate", (-4, 2)), ("replicate", (7, -6))],
)
def test_a_border_that_repeats_what_is_cut_off_is_left_to_the_layer(mode: str, pad: tuple[int, int]) -> None:
    line = f"F.pad pad 1 1 x0 y mode={mode} pad=({pad[0]},{pad[1]})"
    assert steps_of(line, inputs=[numbers(3, 4)]) == ["layer"]


@pytest.mark.parametrize(
    "line", ["nn.ReflectionPad2d pad 1 1 1 2 padding=(1,1,2,2)", "nn.ZeroPad2d pad 1 1 1 2 padding=1"]
)
def test_a_padded_image_is_an_image(line: str) -> None:
    steps = steps_of("nn.ReLU r 1 1 x0 1", line, CONV, inputs=[numbers(2, 3, 5, 7)])
    assert steps[0] == "clip"
    assert set(steps[1:-1]) == {"copy"}
    assert steps[-1] in ("direct", "Winograd")


def test_cropping_is_a_view() -> None:
    line = "F.pad pad 1 1 1 y mode=constant pad=(-1,-1,-2,0) value=0"
    assert steps_of("nn.ReLU r 1 1 x0 1", line, inputs=[numbers(2, 3, 5, 7)]) == ["clip"]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("pads", ["(0,0,1,2,0,0,2,0)", "(1,0,0,3,0,0,0,3)", "(0,-1,0,1,0,0,-2,0)"])
def test_onnx_pad_is_steps_where_its_borders_are_known(mode: str, pads: str) -> None:
    if mode == "reflect" and pads.startswith("(1"):
        pads = pads.replace("1,0,0,3", "0,0,0,3")
    steps = steps_of(f"Pad it 1 1 x0 y mode={mode} pads={pads}", inputs=[numbers(2, 3, 4, 5)])
    assert "layer" not in steps
